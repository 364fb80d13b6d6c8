vim9script
# The plugin with a service that a test commands: what goes over the wire, and what happens when the service dies.

import autoload 'notes_lsp/buffer.vim'
import autoload 'notes_lsp/condition.vim'
import autoload 'notes_lsp/presence.vim'
import autoload 'notes_lsp/sync.vim'
import autoload 'notes_lsp/pending.vim'
import autoload 'notes_lsp/service.vim'
import autoload 'notes_lsp/status.vim'
import './fake.vim'
import './verdict.vim'

const [Wait, Told, WaitTold, Say, Note] = [fake.Wait, fake.Told, fake.WaitTold, fake.Say, fake.Note]

def Edit(note: dict<any>, version: number, rev: number, edits: list<dict<any>>, bytes: number)
  Say('notes/edit', {uri: note.uri, version: version, rev: rev, edits: edits, bytes: bytes, cause: 'remote'})
enddef

def Insertion(line: number, character: number, newText: string): dict<any>
  const place = {line: line, character: character}
  return {range: {start: place, end: place}, newText: newText}
enddef

def TheServiceStartsWhenItIsNeeded()
  assert_equal('stopped', service.State())
  const note = Note('First', [])
  assert_equal('ready', service.State())
  const options = Told('initialize')[0].initializationOptions.notes
  assert_equal([1, 'Ana'], [options.protocol, options.userName])
  const opened = WaitTold('textDocument/didOpen', 1)
  assert_equal([note.uri, 1, ''], [opened.textDocument.uri, opened.textDocument.version, opened.textDocument.text])
  assert_equal(['id-of-First', 1, 0, true],
    [b:notes_lsp.id, b:notes_lsp.version, b:notes_lsp.rev, b:notes_lsp.synced])
enddef

def WhatIsTypedGoesOutAsOneEdit()
  const note = Note('Typed', ['one', 'two'])
  const version = note.version
  setline(2, 'twö')
  sync.Flush(note, false)
  Wait('the change', () => Told('textDocument/didChange')[-1].textDocument.version == version + 1)
  const change = Told('textDocument/didChange')[-1]
  const range = {start: {line: 1, character: 2}, end: {line: 1, character: 3}}
  assert_equal([{range: range, text: 'ö'}], change.contentChanges)
  assert_equal(0, change.notes.rev)
enddef

def EditsAreAppliedAndStaleOnesDropped()
  const note = Note('Edited', ['one'])
  Edit(note, note.version - 1, 1, [Insertion(0, 0, 'stale ')], 10)
  Edit(note, note.version, 2, [Insertion(0, 0, 'é')], 6)
  Wait('the edit', () => note.rev == 2)
  assert_equal(['éone'], getline(1, '$'))
  const ack = WaitTold('notes/ack', 1)
  assert_equal([note.version, 2], [ack.version, ack.rev])
  assert_equal([2, true], [b:notes_lsp.rev, b:notes_lsp.synced])
enddef

def WhatNoNoteCanHoldIsReplacedBeforeTheWholeTextIsSent()
  const note = Note('Whole', ['one'])
  setline(1, "a\xffb")
  # Before the change is looked at.
  sync.OnResync({uri: note.uri})
  Wait('the whole text', () => !Told('textDocument/didChange')[-1].contentChanges[0]->has_key('range'))
  assert_equal([{text: "a\uFFFDb\n"}], Told('textDocument/didChange')[-1].contentChanges)
  assert_equal("a\uFFFDb", getline(1))
enddef

def WrongBytesAndWrongChecksAreRepairedInFull()
  const note = Note('Repaired', ['one'])
  Edit(note, note.version, 1, [Insertion(0, 3, '!')], 99)
  Wait('a full text', () => !Told('textDocument/didChange')[-1].contentChanges[0]->has_key('range'))
  assert_equal("one!\n", Told('textDocument/didChange')[-1].contentChanges[0].text)
  const right = {uri: note.uri, version: note.version, rev: note.rev, bytes: 5, sha256: sha256("one!\n")}
  const count = len(Told('textDocument/didChange'))
  Say('notes/check', right)
  Say('notes/check', right->copy()->extend({version: note.version + 7, sha256: 'of another moment'}))
  Say('notes/check', right->copy()->extend({sha256: sha256('something else')}))
  WaitTold('textDocument/didChange', count + 1)
  Say('notes/resync', {uri: note.uri, reason: 'test'})
  WaitTold('textDocument/didChange', count + 2)
  assert_equal(count + 2, len(Told('textDocument/didChange')))
  assert_match('differed from the note', execute('messages'))
enddef

def ALostEditIsAskedForAgain()
  const note = Note('Lost', ['one'])
  const version = note.version
  Edit(note, version, 1, [Insertion(0, 0, 'a')], 5)
  Edit(note, version, 3, [Insertion(0, 0, 'on the wrong text')], 99)
  Wait('the question', () => note.version == version + 1)
  Wait('that it came', () => Told('textDocument/didChange')[-1].textDocument.version == version + 1)
  const change = Told('textDocument/didChange')[-1]
  assert_equal([1, ''], [change.notes.rev, change.contentChanges[0].text])
  assert_equal(['aone'], getline(1, '$'))
  Edit(note, note.version, 4, [Insertion(0, 0, 'b')], 6)
  Wait('the edit', () => note.rev == 4)
  # The last one is missed at the next check.
  Say('notes/check', {uri: note.uri, version: note.version, rev: 5, bytes: 9, sha256: ''})
  Wait('the question', () => note.version == version + 2)
  assert_equal(['baone'], getline(1, '$'))
enddef

def AnEditThatMakesNoSenseChangesNothing()
  const note = Note('Senseless', ['one'])
  const backwards = {range: {start: {line: 0, character: 2}, end: {line: 0, character: 1}}, newText: 'x'}
  Edit(note, note.version, 1, [backwards], 5)
  Wait('a full text', () => !Told('textDocument/didChange')[-1].contentChanges[0]->has_key('range'))
  assert_equal(['one'], getline(1, '$'))
  assert_equal(0, note.rev)
enddef

def PeersAreShownAndMoveWithTheText()
  const note = Note('Peers', ['one', 'two'])
  const caret = {line: 1, character: 1}
  Say('notes/cursors', {uri: note.uri, version: note.version, rev: 0,
    peers: [{peer: 'p', name: 'Bo', color: 3, letter: 'B', ranges: [{start: {line: 1, character: 0}, end: caret}]}]})
  Wait('the caret', () => !empty(note.peers))
  assert_equal(['NotesCaret3', 'NotesName3', 'NotesSelection3'], prop_list(2)->mapnew((_, it) => it.type)->sort())
  append(0, 'above')
  sync.Flush(note, false)
  assert_equal(2, note.peers[0].ranges[0].end.line)
  NotesGo Bo
  assert_equal([3, 2], [line('.'), col('.')])
  # What is typed at a caret's place goes before it.
  setline(3, 'tXwo')
  sync.Flush(note, false)
  NotesGo Bo
  assert_equal([3, 3], [line('.'), col('.')])
  Say('notes/cursors', {uri: note.uri, version: note.version, rev: 0, peers: []})
  Wait('no caret', () => empty(note.peers))
  assert_equal([], prop_list(3))
enddef

def OnlyACaretOffTheWindowHasAnArrow()
  const note = Note('Arrows', range(1, 100)->mapnew((_, it) => $'line {it}'))
  const Place = (line: number) => {
    const place = {line: line, character: 0}
    Say('notes/cursors', {uri: note.uri, version: note.version, rev: 0,
      peers: [{peer: 'p', name: 'Bo', color: 3, letter: 'B', ranges: [{start: place, end: place}]}]})
    Wait('the caret', () => !empty(note.peers) && note.peers[0].ranges[0].end.line == line)
    return presence.Arrow(note, 'Bo')
  }
  cursor(100, 1)
  redraw
  assert_equal('↑', Place(0))
  # Behind the final newline is no line that Vim shows.
  assert_equal('', Place(100))
  cursor(1, 1)
  redraw
  assert_equal('↓', Place(99))
  assert_equal('', Place(1))
enddef

def ANoteThatComesLateWaitsWhileOneTypes()
  const note = Note('Before', ['one'])
  NotesJoin slow
  WaitTold('notes/join', 1)
  setline(1, 'one and more')
  service.Notify('test/answer', {})
  Wait('the announcement', () => execute('messages') =~ '"Joined" is ready: :NotesShow')
  assert_match('Before', bufname())
  assert_equal(['one and more'], getline(1, '$'))
  NotesShow
  assert_match('Joined', bufname())
  # A user who has only waited sees it at once.
  execute 'buffer' note.bufnr
  NotesJoin slow
  WaitTold('notes/join', 2)
  service.Notify('test/answer', {})
  Wait('the note', () => bufname() =~ 'Joined')
  # No request waits any more.
  execute 'buffer' note.bufnr
  NotesJoin slow
  WaitTold('notes/join', 3)
  NotesGiveUp
  service.Notify('test/answer', {})
  pending.Ask('notes/list', {})
  assert_match('Before', bufname())
enddef

def OneSharesAnOrdinaryFile()
  execute 'edit' fake.directory .. '/plain.txt'
  setline(1, 'plain')
  NotesShare
  Wait('the ticket', () => @" ==# 'a-ticket')
  assert_equal('adopted', b:notes_lsp.id)
  assert_equal("plain\n", Told('textDocument/didOpen')[-1].textDocument.text)
  NotesTicket
enddef

def TheListShowsNotes()
  Notes
  Wait('the list', () => getline(2) =~ 'Tea')
  assert_equal(['Your notes', '  Tea', '  Coffee'], getline(1, '$'))
  assert_equal(2, line('.'), 'the first note')
  const widths = Told('notes/list')->mapnew((_, it) => it->get('width', 0))->filter((_, it) => it > 0)
  assert_equal(&columns, widths[-1])
  # The cursor stays on its note when the list follows what happens.
  cursor(3, 1)
  Say('notes/event', {kind: 'peers'})
  Wait('the question', () => len(Told('notes/list')) > len(widths))
  assert_equal('  Coffee', getline('.'))
  feedkeys("\<CR>", 'x')
  Wait('the note', () => !empty(Told('notes/open')->filter((_, it) => it->get('id', '') ==# 'b')))
  execute $':{bufwinnr("\\[Notes]")}close'
enddef

def AReloadOpensTheNoteAgain()
  const note = Note('Reloaded', ['one', 'two'])
  silent write
  WaitTold('textDocument/didSave', 1)
  const opened = len(Told('textDocument/didOpen'))
  setline(1, 'changed')
  silent edit!
  assert_equal(['one', 'two', ''], note.shadow)
  WaitTold('textDocument/didOpen', opened + 1)
  const again = Told('textDocument/didOpen')->filter((_, it) => it.textDocument.uri ==# note.uri)[-1]
  assert_equal("one\ntwo\n", again.textDocument.text)
  assert_equal(note.version, again.textDocument.version)
  assert_equal({id: note.id}, again->get('notes', {}))
enddef

def ANulInTheFileIsShownToTheServiceAndReplacedLater()
  const note = Note('Nul', ['one'])
  silent write
  writefile(['one', "from\nelsewhere"], note.path, 'b')
  const opened = len(Told('textDocument/didOpen'))
  silent edit!
  WaitTold('textDocument/didOpen', opened + 1)
  assert_match('one\\nfrom\\u0000elsewhere', readfile(fake.log)->filter((_, it) => it =~# 'didOpen')[-1])
  # Once the service has the text, or has sent what it has instead.
  const count = len(Told('textDocument/didChange'))
  Say('notes/check', {uri: note.uri, version: note.version, rev: note.rev, bytes: 18, sha256: 'of the text with the NUL'})
  WaitTold('textDocument/didChange', count + 1)
  assert_equal([{text: "one\nfrom\uFFFDelsewhere\n"}], Told('textDocument/didChange')[-1].contentChanges)
  assert_equal(["one", "from\uFFFDelsewhere", ''], note.shadow)
  assert_equal("from\uFFFDelsewhere", getline(2))
  assert_equal(opened + 1, len(Told('textDocument/didOpen')))
enddef

def WhatIsChangedAndWrittenWithoutAWordIsNoReload()
  const note = Note('Trimmed', ['one  ', 'two  '])
  const [opened, changed] = [len(Told('textDocument/didOpen')), len(Told('textDocument/didChange'))]
  silent :%s/ \+$//
  silent noautocmd write
  sync.Flush(note, false)
  WaitTold('textDocument/didChange', changed + 1)
  assert_equal([['one', 'two', ''], opened], [note.shadow, len(Told('textDocument/didOpen'))])
  # Other people's changes, which Vim reports as well, do not make a reload the person's change.
  Edit(note, note.version, 1, [Insertion(0, 0, 'others ')], 15)
  Wait('the edit', () => note.rev == 1)
  silent noautocmd edit!
  sync.Flush(note, true)
  WaitTold('textDocument/didOpen', opened + 1)
  assert_equal(changed + 1, len(Told('textDocument/didChange')))
enddef

def APartReplacesNoNoteWhateverItsName()
  const note = Note('A $HOME b', ['one', 'two'])
  silent write
  execute 'silent :1write!' fnameescape(note.path)
  assert_equal(['one', 'two'], readfile(note.path))
enddef

def AViewKeepsNoKeysOfTheNoteAndNoReadOnlyState()
  const note = Note('Viewed', ['one'])
  const view = fake.directory .. '/view'
  setlocal nomodifiable readonly
  execute 'mkview!' view
  assert_notmatch('Press', readfile(view)->join("\n"))
  assert_equal(1, maparg('u', 'n', false, true).buffer)
  note.proven = 0
  condition.OnStatus(note, {access: 'write'}, 1)
  assert_equal([true, false], [&modifiable, &readonly])
  # In a buffer that is no note, it must not take undo and the swap file away.
  &viewdir = fake.directory .. '/views'
  mkview
  const [without] = glob(&viewdir .. '/*', false, true)
  execute 'source' without
  assert_equal(-1, &undolevels)
  execute 'new' fake.directory .. '/plain'
  execute 'source' without
  assert_equal(['plain', &g:undolevels, &g:swapfile], [expand('%:t'), &undolevels, &swapfile])
  bwipeout!
enddef

def AServiceThatDiesComesBackAndTheNotesWithIt()
  const note = Note('Survivor', ['before'])
  const [opened, incarnation] = [len(Told('textDocument/didOpen')), service.Incarnation()]
  const version = note.version
  service.Notify('test/die', {})
  Wait('the death', () => service.State() !=# 'ready')
  assert_equal(false, b:notes_lsp.synced)
  setline(1, 'while it was dead')
  Wait('the next one', () => service.IsReady() && service.Incarnation() > incarnation)
  WaitTold('textDocument/didOpen', opened + 1)
  const again = Told('textDocument/didOpen')->filter((_, it) => it.textDocument.uri ==# note.uri)[-1]
  assert_equal({reattach: true}, again.notes)
  assert_equal("while it was dead\n", again.textDocument.text)
  assert_true(again.textDocument.version > version)
  Wait('peace', () => b:notes_lsp.synced)
enddef

def AServiceThatKeepsDyingIsGivenUpUntilAsked()
  const note = Note('Dying', ['one'])
  assert_equal([true, false], [&g:swapfile, &swapfile])
  writefile([], fake.log .. '.broken')
  service.Notify('test/die', {})
  Wait('giving up', () => service.State() ==# 'failed')
  # The user has read what was there before.
  Wait('the news', () => {
    status.OnActivity()
    return execute('messages') =~# 'keeps failing'
  })
  # What is typed now, no service stores.
  assert_equal([true, -1], [&swapfile, &undolevels])
  delete(fake.log .. '.broken')
  NotesRestart
  Wait('the next one', () => service.IsReady())
  assert_false(getbufvar(note.bufnr, '&swapfile'))
enddef

def AClosedBufferIsClosed()
  const note = Note('Closed', ['x'])
  bwipeout!
  Wait('the close', () => !empty(Told('textDocument/didClose')->filter((_, it) => it.textDocument.uri ==# note.uri)))
  assert_equal({}, buffer.WithURI(note.uri))
enddef

def WhatWasMeantForAClosedBufferDoesNotReachItsSuccessor()
  const former = Note('Reopened', ['one'])
  silent write
  const version = former.version
  bwipeout!
  execute 'edit' former.path
  Wait('the note', () => !empty(buffer.Of(bufnr())) && buffer.Of(bufnr()).isOpen)
  const note = buffer.Of(bufnr())
  assert_true(note.version > version)
  # The service sent the first edit before it read that the buffer was closed.
  Edit(note, version, 1, [Insertion(0, 0, 'late ')], 9)
  Edit(note, note.version, 2, [Insertion(0, 0, 'é')], 6)
  Wait('the edit', () => note.rev == 2)
  assert_equal(['éone'], getline(1, '$'))
enddef

def StoppingIsShutdownThenExit()
  NotesStop
  assert_equal('stopped', service.State())
  WaitTold('exit', 1)
  assert_equal(1, len(Told('shutdown')))
enddef

verdict.Run([
  ['TheServiceStartsWhenItIsNeeded', TheServiceStartsWhenItIsNeeded],
  ['WhatIsTypedGoesOutAsOneEdit', WhatIsTypedGoesOutAsOneEdit],
  ['EditsAreAppliedAndStaleOnesDropped', EditsAreAppliedAndStaleOnesDropped],
  ['WhatNoNoteCanHoldIsReplacedBeforeTheWholeTextIsSent', WhatNoNoteCanHoldIsReplacedBeforeTheWholeTextIsSent],
  ['WrongBytesAndWrongChecksAreRepairedInFull', WrongBytesAndWrongChecksAreRepairedInFull],
  ['ALostEditIsAskedForAgain', ALostEditIsAskedForAgain],
  ['AnEditThatMakesNoSenseChangesNothing', AnEditThatMakesNoSenseChangesNothing],
  ['PeersAreShownAndMoveWithTheText', PeersAreShownAndMoveWithTheText],
  ['OnlyACaretOffTheWindowHasAnArrow', OnlyACaretOffTheWindowHasAnArrow],
  ['ANoteThatComesLateWaitsWhileOneTypes', ANoteThatComesLateWaitsWhileOneTypes],
  ['OneSharesAnOrdinaryFile', OneSharesAnOrdinaryFile],
  ['TheListShowsNotes', TheListShowsNotes],
  ['AReloadOpensTheNoteAgain', AReloadOpensTheNoteAgain],
  ['ANulInTheFileIsShownToTheServiceAndReplacedLater', ANulInTheFileIsShownToTheServiceAndReplacedLater],
  ['WhatIsChangedAndWrittenWithoutAWordIsNoReload', WhatIsChangedAndWrittenWithoutAWordIsNoReload],
  ['APartReplacesNoNoteWhateverItsName', APartReplacesNoNoteWhateverItsName],
  ['AViewKeepsNoKeysOfTheNoteAndNoReadOnlyState', AViewKeepsNoKeysOfTheNoteAndNoReadOnlyState],
  ['AServiceThatDiesComesBackAndTheNotesWithIt', AServiceThatDiesComesBackAndTheNotesWithIt],
  ['AServiceThatKeepsDyingIsGivenUpUntilAsked', AServiceThatKeepsDyingIsGivenUpUntilAsked],
  ['AClosedBufferIsClosed', AClosedBufferIsClosed],
  ['WhatWasMeantForAClosedBufferDoesNotReachItsSuccessor', WhatWasMeantForAClosedBufferDoesNotReachItsSuccessor],
  ['StoppingIsShutdownThenExit', StoppingIsShutdownThenExit],
])
