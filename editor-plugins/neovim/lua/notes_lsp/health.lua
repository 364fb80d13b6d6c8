-- :checkhealth notes_lsp

local M = {}

function M.check()
  local health = vim.health or require("health")
  local function call(name, ...) (health[name] or health["report_" .. name])(...) end
  local service = require("notes_lsp.service")
  call("start", "notes-lsp")
  local command = service.command()
  if vim.fn.executable(command[1]) == 1 then
    call("ok", "program: " .. vim.fn.exepath(command[1]))
  else
    call("error", "cannot run " .. command[1], { "Install notes-lsp, or set g:notes_lsp_command to its path" })
    return
  end
  call("info", "service: " .. service.state)
  for _, note in ipairs(require("notes_lsp.note").all()) do
    call("info", ("note: %s, version %d, rev %d, %d bytes, %d edits waiting"):format(
      note.path, note.version, note.rev, note.bytes, #note.queue))
  end
  local options = {}
  for index, word in ipairs(command) do
    if word == "--home" or word == "--notes" then vim.list_extend(options, { word, command[index + 1] }) end
  end
  call("start", "What the service finds on this machine")
  for _, line in ipairs(vim.fn.systemlist(vim.list_extend({ command[1], "doctor" }, options))) do call("info", line) end
  call("start", "What the service said last")
  for _, line in ipairs(service.log) do call("info", line) end
end

return M
