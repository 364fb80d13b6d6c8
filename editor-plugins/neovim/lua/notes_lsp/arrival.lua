-- What answers open: at once if the user has done nothing but wait, else when :NotesShow asks for it. So no window changes its
-- buffer, and no prompt opens, while the user types.

local say = require("notes_lsp.say")
local service = require("notes_lsp.service")
local files = require("notes_lsp.files")
local refresh = require("notes_lsp.view").refresh
local M = {}

local reminder_ms = 3000
-- The requests that are waiting, and what opens those that were announced, oldest first.
local waiting, arrived = {}, {}

-- Whether the request was still waiting.
local function forget(question)
  for index, it in ipairs(waiting) do
    if it == question then return table.remove(waiting, index) ~= nil end
  end
  return false
end

-- Makes of `act`, which opens something, what a request can call with its result. `keys`: the user's when the request was made, by
-- default now.
function M.opens(act, keys)
  keys = keys or say.keys()
  return function(result)
    if say.is_idle(keys) then return act(result) end
    table.insert(arrived, function() act(result) end)
    local path = result and (result.path or result.folder)
    say.warn((path and ('"%s"'):format(vim.fn.fnamemodify(path, ":t:r")) or "The answer") .. " is ready: :NotesShow")
  end
end

-- Requests a note that may arrive late. Shows `line` meanwhile, and after a while `still`. `choose_text` lets the user choose
-- if a document has several texts.
function M.await(method, params, line, still, choose_text)
  local keys, question = say.keys(), {}
  local open = M.opens(function(result)
    files.open(result)
    say.news(#(result.items or {}) == 0 and ('Opened "%s"'):format(vim.fn.fnamemodify(result.path, ":t:r"))
      or ('The first item of "%s". :NotesAgenda shows all'):format(vim.fn.fnamemodify(result.folder, ":t")))
  end)
  table.insert(waiting, question)
  say.news(line)
  if still then
    vim.defer_fn(function()
      if vim.tbl_contains(waiting, question) then say.news(still) end
    end, reminder_ms)
  end
  service.request(method, params, function(answer)
    if not forget(question) then return end
    local function again(path) M.await(method, vim.tbl_extend("force", params, { text = path }), line, still, choose_text) end
    if choose_text(answer, again, keys) then return end
    if answer.error then return say.warn(answer.error.message) end
    say.when_free(function()
      if (answer.result or {}).path then open(answer.result) end
      refresh()
    end)
  end)
end

-- Opens what was announced last.
function M.show()
  local open = table.remove(arrived)
  if not open then return say.news("Nothing is waiting to be shown") end
  open()
  refresh()
end

-- Cancels the latest request.
function M.give_up()
  say.news(table.remove(waiting) and "Gave up waiting; :Notes lists it if it arrives" or "Not waiting for a note")
end

return M
