/**
 * The page: reads the facts that came with it and sets up the views.
 */

import { allClassStrips, singleChanges } from "./whatIf/counterfactuals.js";
import { casesView } from "./cases/casesView.js";
import { byId } from "./core/dom.js";
import { editView } from "./edit/editView.js";
import { degrees, explain, predict, probabilities, scores } from "../../export/evaluator.js";
import { headerView } from "./overview/headerView.js";
import { countLayers } from "./charts/conditionHistogram.js";
import { numberCases } from "./cases/numberCases.js";
import { predictsNumbers } from "./model/regression.js";
import { overviewView } from "./overview/overviewView.js";
import { conditionParts, ruleParts } from "./text/ruleText.js";
import { distributionSymbols } from "./charts/distributions.js";
import { conditionText } from "./text/conditionText.js";
import { sharedCase } from "./whatIf/caseLink.js";
import { keepEdits } from "./edit/savedEdits.js";
import { createStore } from "./model/store.js";
import { rulesView } from "./rules/rulesTable.js";
import { tabs } from "./core/tabs.js";
import { theme } from "./core/theme.js";
import { whatIfView } from "./whatIf/whatIf.js";


const facts = JSON.parse(byId("facts").textContent);
const store = createStore(facts);
/** What the views ask of each other; the editor adds what it can do. */
const actions = {
  showTab: (name) => showTab(name),
  openRule(number) {
    remember(`rule-${number}`);
    showTab("rules");
    rules.open(number);
  },
  tryRow(i) {
    showTab("what-if");
    whatIf.tryRow(i);
    byId("tab-what-if").focus();
  },
  showCases(which) {
    showTab("cases");
    cases.show(which);
    byId("tab-cases").focus();
  },
};

theme(byId("theme"));
document.body.prepend(distributionSymbols(facts));
const rules = rulesView(store, actions);
const areNumbers = predictsNumbers(facts.model);
const edit = editView(store, actions);
headerView(store, actions);
const overview = overviewView(store, actions);
const cases = (areNumbers ? numberCases : casesView)(store, actions);
let whatIf = null;
let remembered = addressOf(window.location);
const showTab = tabs(byId("tabs"), (name) => {
  document.body.dataset.view = name;
  if (viewOf(remembered) !== name) remember(name);
  // These two cost time that the first look at the rules need not wait for.
  if (name === "what-if") whatIf ??= whatIfView(store, actions);
  if (name === "cases") cases.refresh();
  if (name === "overview") overview.refresh();
  if (name === "edit") edit.look();
});
window.addEventListener("beforeprint", () => {
  overview.refresh();
  for (const folded of document.querySelectorAll("#overview-view .settings")) folded.open = true;
});
byId("app").hidden = false;
byId("plain-rules").hidden = true;
keepEdits(store);
openAddress();
window.addEventListener("hashchange", () => {
  if (addressOf(window.location) !== remembered) openAddress();
});

/** Show what the address names: a view, a rule or a case. */
function openAddress() {
  remembered = addressOf(window.location);
  const values = sharedCase(facts.model);
  showTab(viewOf(remembered));
  if (values) whatIf.tryValues(values);
  if (remembered.startsWith("rule-")) rules.open(Number(remembered.slice(5)));
}

function addressOf({ hash }) {
  return hash.slice(1);
}

function viewOf(address) {
  if (sharedCase(facts.model) && address.startsWith("case=")) return "what-if";
  return byId(`tab-${address}`) ? address : "rules";
}

/** Put a view or a rule into the address: the browser goes back to it. A frame leaves its page's history alone. */
function remember(address) {
  if (window.parent !== window || remembered === address) return;
  remembered = address;
  window.location.hash = address;
}

/** For the browser's console: the model, and the functions that decide. */
globalThis.frri = {
  facts,
  store,
  degrees,
  explain,
  predict,
  probabilities,
  scores,
  conditionParts,
  ruleParts,
  conditionText,
  countLayers,
  allClassStrips,
  singleChanges,
};
