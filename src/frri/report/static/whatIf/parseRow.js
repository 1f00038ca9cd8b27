/** Rows and values typed or pasted by people. Errors are sentences for them. */

import { encode } from "../core/evaluator.js";

const MISSING = new Set(["", "na", "nan", "null", "none", "?", "missing"]);

/**
 * One value of an attribute.
 *
 * @param {object} attribute
 * @param {string} text
 * @returns {number|string|null} as the evaluator takes it
 */
export function parseValue(attribute, text) {
  const trimmed = text.trim();
  if (attribute.categories) {
    if (attribute.categories.includes(text)) return text;
    if (attribute.categories.includes(trimmed)) return trimmed;
  }
  if (MISSING.has(trimmed.toLowerCase())) return null;
  if (attribute.kind === "nominal") return trimmed;
  if (attribute.categories) throw new Error(`${attribute.name} has no category ${trimmed}.`);
  if (attribute.kind === "date") {
    const value =
      /^-?\d+(\.\d+)?$/.test(trimmed) && trimmed.length !== 4 ? Number(trimmed) : trimmed;
    return encode(valueModel(attribute), [value])[0];
  }
  const number = Number(trimmed.replace(/^−/, "-"));
  if (!Number.isFinite(number))
    throw new Error(`${attribute.name} must be a number, not “${trimmed.slice(0, 60)}”.`);
  return number;
}

/**
 * A whole row: JSON, a header with a line below it, or values in the order of the attributes,
 * separated by tabs, semicolons or commas.
 *
 * @param {object} model
 * @param {string} text
 * @returns {Array} values as the evaluator takes them
 */
export function parseRow(model, text) {
  const { attributes } = model;
  const trimmed = text.trim();
  if (!trimmed) throw new Error("Nothing was pasted.");
  if (trimmed.startsWith("{") || trimmed.startsWith("[")) return fromJson(attributes, trimmed);
  const lines = text.split(/\r?\n/).filter((line) => line.trim());
  const separator = ["\t", ";", ","].find((one) => lines[0].includes(one)) ?? ",";
  const [first, second] = lines.map((line) => split(line, separator));
  if (second) {
    const header = first.map((name) => name.trim());
    if (attributes.every((attribute) => header.includes(attribute.name))) {
      return attributes.map((attribute) =>
        parseValue(attribute, second[header.indexOf(attribute.name)] ?? ""),
      );
    }
  }
  // A further column at the end is most often the class.
  if (first.length !== attributes.length && first.length !== attributes.length + 1) {
    throw new Error(
      `Expected ${attributes.length} values (${listing(attributes)}), got ${first.length}.`,
    );
  }
  return attributes.map((attribute, j) => parseValue(attribute, first[j]));
}

function fromJson(attributes, text) {
  let row;
  try {
    row = JSON.parse(text);
  } catch {
    throw new Error("This looks like JSON but cannot be read as such.");
  }
  if (Array.isArray(row) && row.length !== attributes.length) {
    throw new Error(
      `Expected ${attributes.length} values (${listing(attributes)}), got ${row.length}.`,
    );
  }
  return attributes.map((attribute, j) => {
    const value = Array.isArray(row)
      ? row[j]
      : Object.hasOwn(row, attribute.name)
        ? row[attribute.name]
        : undefined;
    if (value === undefined) throw new Error(`The row has no value for ${attribute.name}.`);
    return value === null ? null : parseValue(attribute, String(value));
  });
}

function split(line, separator) {
  const cells = [];
  let cell = "";
  let quoted = false;
  for (let i = 0; i < line.length; i += 1) {
    const character = line[i];
    if (quoted && character === '"' && line[i + 1] === '"') {
      cell += '"';
      i += 1;
    } else if (character === '"') quoted = !quoted;
    else if (character === separator && !quoted) {
      cells.push(cell);
      cell = "";
    } else cell += character;
  }
  return [...cells, cell];
}

function listing(attributes) {
  const names = attributes.slice(0, 5).map((attribute) => attribute.name);
  return attributes.length > 5 ? `${names.join(", ")}, …` : names.join(", ");
}

/** A model of one attribute, to read a value with. */
function valueModel(attribute) {
  return {
    attributes: [attribute],
    rules: [],
    classes: [0],
    class_counts: [1],
    semantics: { name: "best-rule", t_norm: "minimum", clip: false },
  };
}
