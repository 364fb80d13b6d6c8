-- The plugin with a service that a test commands: what a person sees and loses if answers come late, or never.

local test_directory = vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p:h")
local child = dofile(test_directory .. "/child.lua")
local test, equal = child.test, child.equal

test("a sidebar that opens with a note does not become the note", function(nvim)
  nvim:lua([[vim.api.nvim_create_autocmd("BufReadPost", { pattern = "*.md", callback = function()
    vim.cmd("vnew | setlocal buftype=nofile")
    vim.api.nvim_buf_set_lines(0, 0, -1, true, { "sidebar" })
  end })]])
  nvim:lua("vim.cmd('NotesNew Tea')")
  nvim:wait_told("textDocument/didOpen")
  nvim:wait("#note_of.all() > 0")
  equal({ true }, nvim:value("vim.tbl_map(function(it) return vim.api.nvim_buf_get_name(it.buf):find('Tea.md') ~= nil end, note_of.all())"))
  equal({ "" }, vim.tbl_map(function(it) return it.textDocument.text end, nvim:told("textDocument/didOpen")))
end)

child.run()
