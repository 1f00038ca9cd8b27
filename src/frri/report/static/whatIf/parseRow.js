/** Rows and values typed or pasted by people. Errors are sentences for them. */

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
  // Python writes 1.0 and True where JSON has 1 and true.
  const spellings = [text, trimmed, String(Number(trimmed)), trimmed.replace(/^[tf](?=rue$|alse$)/, (letter) => letter.toUpperCase())];
  const known = spellings.find((one) => attribute.categories?.includes(one));
  if (known !== undefined) return known;
  if (MISSING.has(trimmed.toLowerCase())) return null;
  if (attribute.kind === "nominal") return trimmed;
  if (attribute.categories) throw new Error(`${attribute.name} has no category ${trimmed}.`);
  const isDate = attribute.kind === "date";
  const number = isDate ? days(trimmed) : Number(trimmed.replace(/^−/, "-"));
  if (!Number.isFinite(number))
    throw new Error(`${attribute.name} must be a ${isDate ? "date" : "number"}, not “${trimmed.slice(0, 60)}”.`);
  return number;
}

/** Days since 1970-01-01 of a number of days or an ISO text, NaN for any other. */
function days(text) {
  if (/^-?\d+(\.\d+)?$/.test(text) && text.length !== 4) return Number(text);
  if (!/^\d{4}(-\d\d(-\d\d)?)?([T ]\d\d(:\d\d(:\d\d(\.\d{1,6})?)?)?)?$/.test(text)) return NaN;
  const [day, time = ""] = text.split(/[T ]/);
  const date = Date.parse(`${day}T00:00Z`);
  // Days that do not exist, such as the 30th of February, are moved on by some browsers.
  if (!new Date(date || 0).toISOString().startsWith(day)) return NaN;
  const [hour = 0, minute = 0, second = 0] = time.split(":").map(Number);
  return hour < 24 && minute < 60 && second < 60 ? (date / 1000 + (hour * 60 + minute) * 60 + second) / 86400 : NaN;
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
    throw wrongLength(attributes, first);
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
    throw wrongLength(attributes, row);
  }
  return attributes.map((attribute, j) => {
    const value = Array.isArray(row) ? row[j] : Object.hasOwn(row, attribute.name) ? row[attribute.name] : undefined;
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

function wrongLength(attributes, row) {
  const names = attributes.slice(0, 5).map(({ name }) => name);
  const more = attributes.length > 5 ? ", …" : "";
  return new Error(`Expected ${attributes.length} values (${names.join(", ")}${more}), got ${row.length}.`);
}
