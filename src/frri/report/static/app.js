/**
 * The page: reads the facts that came with it and sets up the views.
 */

import { degrees, explain, predict, probabilities, scores } from "./core/evaluator.js";
import { casesView } from "./cases/casesView.js";
import { countLayers } from "./charts/conditionHistogram.js";
import { distributionSymbols } from "./charts/distributions.js";
import { announce, byId } from "./core/dom.js";
import { tabs } from "./core/tabs.js";
import { theme } from "./core/theme.js";
import { editBar } from "./edit/editBar.js";
import { keepEdits } from "./edit/savedEdits.js";
import { readFacts } from "./model/rows.js";
import { conditionParts } from "./model/ruleText.js";
import { createStore } from "./model/store.js";
import { headerView } from "./overview/headerView.js";
import { overviewView } from "./overview/overviewView.js";
import { rulesView } from "./rules/rulesTable.js";
import { sharedCase } from "./whatIf/caseLink.js";
import { allClassStrips, pairChanges, singleChanges } from "./whatIf/counterfactuals.js";
import { explanationOf } from "./whatIf/explanation.js";
import { membershipsOf } from "./whatIf/firedRules.js";
import { parseRow } from "./whatIf/parseRow.js";
import { whatIfView } from "./whatIf/whatIf.js";

const facts = await readFacts(byId("facts").textContent);
const store = createStore(facts);
/** What the views ask of each other; the bar of edits adds what it can do. */
const actions = {
  openRule(number, isEditing = false) {
    remember(`rule-${number}`);
    showTab("rules");
    rules.open(number, isEditing);
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
  /** Put an address into that of the page, and into the clipboard where that may be written to. */
  async copyLink(button, address) {
    remembered = address;
    window.location.replace(`#${address}`);
    const isCopied = await navigator.clipboard?.writeText(window.location.href).then(
      () => true,
      () => false,
    );
    button.textContent = isCopied ? "Link copied" : "Link is in the address";
    announce(button.textContent);
    setTimeout(() => {
      button.textContent = "Copy link";
    }, 4000);
  },
};

theme(byId("theme"));
document.body.prepend(distributionSymbols(facts));
editBar(store, actions);
const rules = rulesView(store, actions);
headerView(store);
const overview = overviewView(store, actions);
const cases = casesView(store, actions);
let whatIf = null;
let remembered = addressOf(window.location);
const showTab = tabs(byId("tabs"), (name) => {
  document.body.dataset.view = name;
  if (viewOf(remembered) !== name) remember(name);
  // These cost time that the first look at the rules need not wait for.
  if (name === "what-if") whatIf ??= whatIfView(store, actions);
  if (name === "cases") cases.refresh();
  if (name === "overview") overview.refresh();
});
window.addEventListener("beforeprint", () => {
  overview.refresh();
  for (const folded of document.querySelectorAll("#overview-view .settings")) folded.setAttribute("open", "");
});
byId("app").hidden = false;
byId("plain-rules").hidden = true;
keepEdits(store);
// Paper has the overview, too, and cannot wait for its curves.
rules.ready.then(overview.refresh);
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
  actions,
  degrees,
  explain,
  predict,
  probabilities,
  scores,
  conditionParts,
  countLayers,
  explanationOf,
  membershipsOf,
  parseRow,
  allClassStrips,
  singleChanges,
  pairChanges,
};
