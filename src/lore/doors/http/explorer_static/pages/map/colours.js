// colours: twelve that differ on light and on dark ground. After them, groups take them again, others are grey.
import { kindsName } from "../../words.js";
import { tally } from "./model.js";

const LIGHT = ["#4845c4", "#c2571a", "#1f8a5b", "#b0308a", "#97750a", "#1b7fb3", "#b33a3a", "#5f7a1f", "#8a5fc9", "#00807a", "#b5476a", "#5a6b86"];
const DARK = ["#a9abff", "#ffab70", "#6fd79a", "#f08fd0", "#e3c25a", "#77c4f5", "#ff9a90", "#b8d46b", "#cba6ff", "#5fd6cd", "#ff9fba", "#a8b4c8"];
const REST = { light: "#a9a39a", dark: "#62626c" };

export const WAYS = [["cluster", "Groups"], ["kind", "Kinds"], ["project", "Projects"]];

/** The colours of a way: {of: for each node its colour, legend: list of {value, name, colour, count}}. */
export function coloursOf(model, way, dark) {
  const field = way || "cluster";
  const palette = dark ? DARK : LIGHT;
  const rest = dark ? REST.dark : REST.light;
  const counted = tally(model.nodes, field).filter(([, count]) => field !== "cluster" || count > 2);
  const chosen = counted.slice(0, palette.length);
  const coloured = field === "cluster" ? counted : chosen;
  const colours = new Map(coloured.map(([value], at) => [value, palette[at % palette.length]]));
  const names = new Map(model.clusters.map((cluster) => [cluster.id, cluster.label]));
  const nameOf = { cluster: (value) => names.get(value) ?? "Group", kind: kindsName, project: (value) => value || "Everywhere" }[field];
  const legend = chosen.map(([value, count]) => ({ value, name: nameOf(value), colour: colours.get(value), count }));
  const others = model.nodes.length - legend.reduce((sum, one) => sum + one.count, 0);
  if (others && field !== "cluster") legend.push({ value: null, name: "Others", colour: rest, count: others });
  return { field, of: model.nodes.map((node) => colours.get(node[field]) ?? rest), legend };
}
