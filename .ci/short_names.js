// Built-in functions whose names esbuild may shorten, like those of the page.
const { abs, floor, max, min, round } = Math;
const { isFinite, isNaN } = Number;
export {
  abs as "Math.abs",
  floor as "Math.floor",
  max as "Math.max",
  min as "Math.min",
  round as "Math.round",
  isFinite as "Number.isFinite",
  isNaN as "Number.isNaN",
};
