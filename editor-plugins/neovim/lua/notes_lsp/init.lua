-- notes-lsp: notes that several people write at the same time, from Neovim, Vim, Emacs and others.
--
-- :help notes-lsp has the commands and settings. The service is started when a note is opened or a command needs it,
-- and, if you chose to be seen on this network, a moment after Neovim.

local M = {}

-- The note in the current buffer in a few words, for 'statusline'.
function M.status() return require("notes_lsp.condition").line() end

return M
