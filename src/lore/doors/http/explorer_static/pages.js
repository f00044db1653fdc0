// pages: the table of views. A new view is one line here and one module in pages/ whose default export draws it.

/** path: first part of the address. group: heading in the navigation; "hidden": not listed there.
 * keys: shortcut. about: one line for the palette. */
export const PAGES = [
  { path: "", title: "Home", icon: "home", group: "", keys: "g h", about: "How your memory is doing", load: () => import("./pages/home.js") },
  { path: "search", title: "Search", icon: "search", group: "", keys: "g s", about: "Find anything that was learnt", load: () => import("./pages/search.js") },
  { path: "review", title: "Review", icon: "inbox", group: "", keys: "g r", about: "Decide what Lore is unsure about", load: () => import("./pages/review.js") },
  { path: "map", title: "Map", icon: "map", group: "Explore", keys: "g m", about: "Everything and how it hangs together", load: () => import("./pages/map.js") },
  { path: "trees", title: "Trees", icon: "tree", group: "Explore", keys: "g t", about: "Topics with what belongs below them", load: () => import("./pages/trees.js") },
  { path: "entities", title: "Entities", icon: "entity", group: "Explore", keys: "g e", about: "What is known about each of them", load: () => import("./pages/entities.js") },
  { path: "timeline", title: "Timeline", icon: "clock", group: "Explore", keys: "g l", about: "What was known on a day", load: () => import("./pages/timeline.js") },
  { path: "sessions", title: "Sessions", icon: "chat", group: "Explore", keys: "g c", about: "What was said, and what was learnt from it", load: () => import("./pages/sessions.js") },
  { path: "consolidation", title: "Consolidation", icon: "sleep", group: "Manage", keys: "g u", about: "What Lore does in the background", load: () => import("./pages/consolidation.js") },
  { path: "backup", title: "Backup", icon: "box", group: "Manage", keys: "g b", about: "Save memories to a file, or bring them in", load: () => import("./pages/backup.js") },
  { path: "metrics", title: "Metrics", icon: "chart", group: "Manage", keys: "g a", about: "How often and how fast Lore answers", load: () => import("./pages/metrics.js") },
  { path: "settings", title: "Settings", icon: "gear", group: "Manage", keys: "g x", about: "How Lore ranks, reads and forgets", load: () => import("./pages/settings.js") },
  { path: "memory", title: "Memory", icon: "note", group: "hidden", load: () => import("./pages/memory.js") },
];

export const pageOf = (path) => PAGES.find((one) => one.path === path);
