// Runs decisions of DMN: one line of JSON is answered by one line of JSON. Decisions as plain values are run with
// feelin, XML with dmn-eval-js, which reads the namespace of DMN 1.1 and lists the hits of COLLECT.
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [feelin, engine] = process.argv.slice(2).map((path) => pathToFileURL(path));
const { evaluate, unaryTest } = await import(feelin);
const { decisionTable } = (await import(engine)).default;
const value = (text, context) => evaluate(text, context).value;
const holds = (text, input, context) => text === "-" || unaryTest(text, { ...context, "?": input }).value === true;

function decide(decision, context) {
  if (decision.kind === "literal") return value(decision.text, context);
  const inputs = decision.inputs.map((text) => value(text, context));
  const hits = decision.rules.filter(([cells]) => cells.every((cell, k) => holds(cell, inputs[k], context)));
  const outputs = hits.map(([, texts]) => texts.map((text) => value(text, context)));
  if (decision.policy === "COLLECT") return outputs.reduce((sum, [amount]) => sum + amount, 0);
  return Object.fromEntries(decision.outputs.map((name, k) => [name, outputs[0][k]]));
}

function decideRow(decisions, row) {
  const context = { ...row };
  for (const decision of decisions) context[decision.name] = decide(decision, context);
  return context.prediction;
}

// A context is parsed once for all rows: parsing takes most of the time.
function decideAll({ entries }, rows) {
  const inputs = Object.keys(rows[0]).map((name) => `${name}: row.${name}`);
  const steps = entries.map(([name, text]) => `${name || "result"}: ${text}`);
  return value(`for row in rows return ({${[...inputs, ...steps].join(", ")}}).result`, { rows });
}

for await (const line of createInterface({ input: process.stdin })) {
  const { decisions, rows, xml, name } = JSON.parse(line);
  let answers;
  if (xml) {
    const parsed = await decisionTable.parseDmnXml(xml);
    answers = rows.map((row) => decisionTable.evaluateDecision(name, parsed, row));
  } else {
    const context = decisions.find(({ kind }) => kind === "context");
    answers = context ? decideAll(context, rows) : rows.map((row) => decideRow(decisions, row));
  }
  process.stdout.write(JSON.stringify(answers) + "\n");
}
