-- Reports what other people or the service have done, and updates the lists.

local text = require("notes_lsp.text")
local say = require("notes_lsp.say")
local service = require("notes_lsp.service")
local presence = require("notes_lsp.presence")
local condition = require("notes_lsp.condition")
local files = require("notes_lsp.files")
local refresh = require("notes_lsp.view").refresh

-- What the user can do about an event, if anything. An answer that needs a confirmation names the invitation.
local function reply(event)
  if event.invitation then
    return event.kind == "invited" and ". :NotesAnswer to reply" or event.kind == "accepted" and " :NotesAnswer to compare codes" or ""
  end
  local replies = { keyChanged = ". :NotesVerify", away = ". :NotesDiff", pointed = ". :NotesGo " .. text.shown(event.name or "") }
  return replies[event.kind] or ""
end

-- A message and what to do about it, with one punctuation mark between them.
local function sentences(message, what)
  local has_end = vim.tbl_contains({ ".", "?", "!", "…" }, vim.fn.strcharpart(message, vim.fn.strchars(message) - 1))
  return message .. (has_end and what:gsub("^%.", "") or what)
end

service.on("notes/event", function(event)
  if event.kind == "pointed" then presence.on_pointed(event) end
  if not condition.on_event(event) then
    local urgent = { declined = true, deleted = true, forged = true, keyChanged = true, repeated = true, waiting = true }
    local message = (event.message or "") == "" and "" or sentences(event.message, reply(event))
    local is_urgent = event.invitation or urgent[event.kind] or message:find("^WARNING")
    if is_urgent then say.warn(message) else say.news(message) end
  end
  files.on_placed(event)
  refresh()
end)
