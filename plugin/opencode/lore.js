// Lore for OpenCode: adds the brief and memories that fit a prompt, and has the transcript read at once.
// Copy or link this file into ~/.config/opencode/plugins/.
import { spawn } from "node:child_process"
import { homedir } from "node:os"
import { delimiter, join } from "node:path"

const PATH = [process.env.PATH, join(homedir(), ".local/bin"), "/opt/homebrew/bin", "/usr/local/bin"].join(delimiter)
const TRANSCRIPT = join(process.env.XDG_DATA_HOME || join(homedir(), ".local/share"), "opencode", "opencode.db")

const SETTINGS = {}

/** Run `lore-hook`; resolves to the text for the conversation, empty if there is none. */
function hook(event, input) {
  return new Promise((resolve) => {
    const options = { env: { ...process.env, PATH, ...SETTINGS }, stdio: ["pipe", "pipe", "ignore"] }
    const child = spawn("lore-hook", [event], options)
    let output = ""
    child.on("error", () => resolve(""))
    child.stdout.setEncoding("utf8").on("data", (data) => (output += data))
    child.on("close", () => {
      try {
        resolve(JSON.parse(output).hookSpecificOutput.additionalContext)
      } catch {
        resolve("")
      }
    })
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify({ ...input, transcript_path: TRANSCRIPT }))
  })
}

export const Lore = async ({ directory }) => ({
  "chat.message": async ({ sessionID }, { message, parts }) => {
    const written = parts.filter((part) => part.type === "text" && !part.synthetic)
    if (!written.length) return
    const prompt = written.map((part) => part.text).join("\n")
    const text = await hook("UserPromptSubmit", { session_id: sessionID, cwd: directory, prompt })
    const part = { id: `${parts.at(-1).id}0`, sessionID, messageID: message.id, type: "text", synthetic: true }
    if (text) parts.push({ ...part, text })
  },
  "experimental.session.compacting": async ({ sessionID }) => {
    await hook("PreCompact", { session_id: sessionID, cwd: directory })
  },
  event: async ({ event }) => {
    if (event.type === "session.idle")
      await hook("Stop", { session_id: event.properties.sessionID, cwd: directory })
  },
})
