vim9script
# The working file of a note, which this Vim writes, and sometimes another program.
#
# The service merges what another program writes there into the note, and it reaches the buffer as an edit. So Vim has
# nothing to ask: neither what to do about a file that has changed, nor whether to write over it. While the service restarts
# Vim also leaves the file alone: the service merges it as soon as it is back. Then Vim asks only before it overwrites the file.

import autoload 'notes_lsp/buffer.vim'
import autoload 'notes_lsp/service.vim'
import autoload 'notes_lsp/status.vim'
import autoload 'notes_lsp/sync.vim'
import autoload 'notes_lsp/text.vim'

# How long a write waits for the service to merge what another program has just written, in milliseconds.
const mergeTimeout = 100

augroup notes_lsp_part
augroup END

# Called while the autocommands of a note's buffer are being made, in their group.
export def SetAutocommands(note: dict<any>)
  const bufnr = note.bufnr
  execute $'autocmd FileChangedShell <buffer={bufnr}> OnChanged({bufnr})'
  execute $'autocmd BufWritePre <buffer={bufnr}> ++nested OnWriting({bufnr})'
  execute $'autocmd BufWritePost <buffer={bufnr}> OnWritten({bufnr})'
  RemoveAutocommands(note)
  execute $'autocmd notes_lsp_part FileWriteCmd {Pattern(note.path)} OnWritingPart()'
enddef

# A note's file must have the whole text: a part of it would look as if another program had deleted the rest, for everyone.
def OnWritingPart()
  status.Warn('Choose another file: a part cannot replace the note')
enddef

export def RemoveAutocommands(note: dict<any>)
  execute $'autocmd! notes_lsp_part * {Pattern(note.path)}'
enddef

# A pattern that only this path matches.
def Pattern(path: string): string
  return path->escape(' ,*[{}\')->substitute('\$', '[$]', 'g')
enddef

# Identifies a version of a file without reading it.
export def Stamp(path: string): list<number>
  return [getftime(path), getfsize(path)]
enddef

def IsFile(path: string): bool
  return getftype(resolve(path)) ==# 'file' && filereadable(path)
enddef

# The text of a file, with a last "\n" if it has one.
export def Text(path: string): string
  return IsFile(path) ? readfile(path, 'b')->join("\n") : ''
enddef

# Vim has noticed that the file has changed.
def OnChanged(bufnr: number)
  v:fcs_choice = 'ask'
  buffer.Guarded(bufnr, (note) => {
    if !note.isOpen && !service.IsRestarting()
      return
    endif
    v:fcs_choice = ''
    if v:fcs_reason ==# 'deleted'
      status.Say('The file is gone; :w writes it again')
    elseif v:fcs_reason !=# 'mode'
      service.Notify('workspace/didChangeWatchedFiles', {changes: [{uri: note.uri, type: 2}]})
    endif
  })
enddef

# The service says that the note contains all of the file with this hash.
export def OnFile(params: dict<any>)
  final note = buffer.WithURI(params.uri)
  if !empty(note)
    note.fileHash = params.sha256
    note.fileStamp = []
    note.isFileNews = true
    sync.Drain(note, false)
  endif
enddef

# The buffer has all edits that came before this message. If it equals the file, there is nothing to write.
export def ShowNews(note: dict<any>)
  note.isFileNews = false
  if note.tick == getbufvar(note.bufnr, 'changedtick') && getbufvar(note.bufnr, '&modified')
      && sha256(note.shadow->join("\n")) ==# note.fileHash
    setbufvar(note.bufnr, '&modified', false)
  endif
enddef

# Before Vim writes the file: first waits until what another program wrote is merged, so that Vim need not ask.
def OnWriting(bufnr: number)
  buffer.Guarded(bufnr, (note) => {
    sync.Drain(note, false)
    if !note.isOpen || fnamemodify(expand('<afile>'), ':p') !=# note.path || Stamp(note.path) == note.fileStamp
      return
    endif
    const found = Text(note.path)
    const hash = sha256(found)
    if hash !=# note.fileHash && IsFile(note.path) && text.IsSendable(text.Lines(found)->join(''))
      service.Notify('notes/file', {uri: note.uri, text: found})
      const start = reltime()
      while hash !=# note.fileHash && reltimefloat(reltime(start)) * 1000 < mergeTimeout
        sleep 2m
      endwhile
      sync.Drain(note, true)
    endif
    if hash ==# note.fileHash
      Believe(note)
    endif
  })
enddef

# Vim asks before it writes over a file that has changed since it was read or written, and remembers when that was. A
# BufWriteCmd that writes nothing counts as writing, so Vim takes the file as it is for its own.
def Believe(note: dict<any>)
  if note.bufnr != bufnr()
    return
  endif
  const modified = &l:modified
  execute $'autocmd notes_lsp_buffer BufWriteCmd <buffer={note.bufnr}> ++once setlocal nomodified'
  try
    lockmarks keepalt keepjumps silent write!
    note.fileStamp = Stamp(note.path)
  finally
    execute $'autocmd! notes_lsp_buffer BufWriteCmd <buffer={note.bufnr}>'
    &l:modified = modified
  endtry
enddef

# Vim also reports a write that failed or was refused; the buffer is then usually still modified.
def OnWritten(bufnr: number)
  buffer.Guarded(bufnr, (note) => {
    if !note.isOpen || fnamemodify(expand('<afile>'), ':p') !=# note.path
      return
    endif
    if !getbufvar(bufnr, '&modified')
      sync.Flush(note, false)
    elseif !IsFile(note.path) || Text(note.path) !=# note.shadow->join("\n")
      return
    endif
    note.fileStamp = Stamp(note.path)
    service.Notify('textDocument/didSave', {textDocument: {uri: note.uri}})
  })
enddef
