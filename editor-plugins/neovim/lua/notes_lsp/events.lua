-- Reports what other people or the service have done, and updates the lists.

local say = require("notes_lsp.say")
local service = require("notes_lsp.service")
local presence = require("notes_lsp.presence")
local condition = require("notes_lsp.condition")
local files = require("notes_lsp.files")
local refresh = require("notes_lsp.view").refresh

service.on("notes/event", function(event)
  if event.kind == "pointed" then presence.on_pointed(event) end
  if not condition.on_event(event) then say.event(event) end
  files.on_placed(event)
  if event.kind == "tickets" then require("notes_lsp.commands").tickets_revoked(event.id) end
  refresh()
end)
