-- What the service says of a buffer: edits, carets, and whether both have the same text.

local service = require("notes_lsp.service")
local note_of = require("notes_lsp.note")
local unsent = require("notes_lsp.unsent")

-- The others' carets. They wait for the edit that they were written down after; what was typed here since, they do not know, and so
-- they are asked for again.
local function on_cursors(params)
  local note = note_of.with_uri(params.uri)
  if not note then return end
  note.late_cursors = nil
  if params.rev > note.rev then
    note.late_cursors = params
  elseif params.version ~= note.version or params.rev ~= note.rev then
    service.notify("notes/ack", { uri = note.uri, version = note.version, rev = note.rev, carets = true })
  else
    note.peers = params.peers
    note_of.tell("on_cursors", note)
    note_of.publish(note)
  end
end

service.on("notes/cursors", on_cursors)

table.insert(note_of.listeners, {
  on_drained = function(note)
    if note.late_cursors then on_cursors(note.late_cursors) end
  end,
})

service.on("notes/edit", function(params)
  local note = note_of.with_uri(params.uri)
  if note then
    note.opened = nil
    unsent.on_read(note, params.version)
    table.insert(note.queue, params)
    note_of.drain(note)
  end
end)

-- Proves that both sides have the same text, when both speak of the same moment.
service.on("notes/check", function(params)
  local note = note_of.with_uri(params.uri)
  if not note then return end
  note.opened = nil
  unsent.on_read(note, params.version)
  note_of.flush(note, true)
  if params.version ~= note.version or #note.queue > 0 then return end
  if table.concat(note.shadow):find("%z") then return note_of.send_whole(note) end
  if params.rev > note.last_seen then
    note.last_seen = params.rev
    note_of.ask_again(note)
  elseif params.rev == note.rev
    and (params.bytes ~= note.bytes or vim.fn.sha256(table.concat(note.shadow, "\n")) ~= params.sha256:lower()) then
    note_of.repair(note, "not the same text")
  end
end)

service.on("notes/resync", function(params)
  local note = note_of.with_uri(params.uri)
  if note then
    note.queue = {}
    note_of.send_whole(note)
  end
end)
