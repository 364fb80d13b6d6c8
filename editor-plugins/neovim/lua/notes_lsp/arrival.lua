-- Notes from other people that arrive after a while: opened if the user has done nothing but wait, else announced. So no
-- window changes its buffer while the user types.

local api = vim.api
local say = require("notes_lsp.say")
local service = require("notes_lsp.service")
local files = require("notes_lsp.files")
local view = require("notes_lsp.view")
local refresh = view.refresh
local M = {}

local reminder_ms = 3000
-- The requests that are waiting, and the notes that were announced, oldest first.
local waiting, arrived = {}, {}

-- The user's place and the text around it; equal afterwards if the user has done nothing. A list changes by itself, and with it the
-- cursor's place.
local function mark()
  local here = { api.nvim_get_current_win(), api.nvim_get_current_buf() }
  return vim.b.notes_lsp_view and here or { here, api.nvim_buf_get_changedtick(0), vim.fn.getcurpos() }
end

-- Whether the request was still waiting.
local function forget(question)
  for index, it in ipairs(waiting) do
    if it == question then return table.remove(waiting, index) ~= nil end
  end
  return false
end

local function take(result, before)
  if not result.path then return refresh() end
  local title = vim.fn.fnamemodify(result.path, ":t:r")
  if api.nvim_get_mode().mode == "n" and vim.deep_equal(before, mark()) then
    files.open(result)
    say.news(#(result.items or {}) == 0 and ('Opened "%s"'):format(title)
      or ('The first item of "%s". :NotesAgenda shows all'):format(vim.fn.fnamemodify(result.folder, ":t")))
  else
    table.insert(arrived, result)
    say.warn(('"%s" is ready: :NotesShow'):format(title))
  end
  refresh()
end

-- Requests a note that may arrive late. Shows `line` meanwhile, and after a while `still`. `choose_text` lets the user choose
-- if a document has several texts.
function M.await(method, params, line, still, choose_text)
  local before, question = mark(), {}
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
    if choose_text(answer, again) then return end
    if answer.error then return say.warn(answer.error.message) end
    say.when_free(function() take(answer.result or {}, before) end)
  end)
end

-- Opens what was announced last.
function M.show()
  local result = table.remove(arrived)
  if not result then return say.news("Nothing is waiting to be shown") end
  files.open(result)
  refresh()
end

-- Cancels the latest request.
function M.give_up()
  say.news(table.remove(waiting) and "Gave up waiting; :Notes lists it if it arrives" or "Not waiting for a note")
end

return M
