vim9script
# What comes from outside while the user is at work: it neither takes their keys nor moves them nor makes others' words theirs.
# With a service that a test commands.

import autoload 'notes_lsp/pending.vim'
import autoload 'notes_lsp/buffer.vim'
import autoload 'notes_lsp/files.vim'
import autoload 'notes_lsp/presence.vim'
import autoload 'notes_lsp/service.vim'
import autoload 'notes_lsp/status.vim'
import autoload 'notes_lsp/sync.vim'
import './fake.vim'
import './verdict.vim'

const [Wait, Told, WaitTold, Say, Note] = [fake.Wait, fake.Told, fake.WaitTold, fake.Say, fake.Note]

# Ben's caret.
def Peers(line: number): list<dict<any>>
  const place = {line: line, character: 0}
  return [{peer: 'b', name: 'Ben', color: 1, letter: 'B', ranges: [{start: place, end: place}]}]
enddef

def OpenSidebar()
  vnew
  setlocal buftype=nofile
  setline(1, 'of the sidebar')
enddef

def AnotherBufferThatAnAutocommandOpensIsNotTheNote()
  const note = Note('Sidebar', ['one'])
  silent write
  bwipeout!
  WaitTold('textDocument/didClose', 1)
  const count = len(Told('textDocument/didOpen'))
  autocmd BufReadPost Sidebar.md ++once OpenSidebar()
  files.Open({id: note.id, uri: note.uri, path: note.path})
  assert_equal('of the sidebar', getline(1))
  assert_equal({}, buffer.Of(bufnr()))
  assert_equal(note.id, buffer.WithURI(note.uri).id)
  WaitTold('textDocument/didOpen', count + 1)
  pending.Ask('notes/list', {})
  assert_equal("one\n", Told('textDocument/didOpen')[count :]->mapnew((_, it) => it.textDocument.text)->join('|'))
  bwipeout!
enddef

def AnEditThatIsInterruptedIsAppliedInFull()
  const note = Note('Interrupted', range(1, 50)->mapnew((_, it) => $'line {it}'))
  const count = len(Told('textDocument/didChange'))
  # Vim calls it between the edits, the lowest of which comes first.
  const listener = listener_add((_, _, _, _, _) => feedkeys("\<C-c>", 'Lt'))
  const edits = range(0, 40, 10)->mapnew((_, it) => ({
    range: {start: {line: it, character: 0}, end: {line: it, character: 0}}, newText: "of others\n"}))
  const expected = note.shadow->copy()
  var bytes = note.bytes
  Say('notes/edit', {uri: note.uri, version: note.version, rev: 1, edits: edits, bytes: note.bytes + 50, cause: 'remote'})
  Wait('the edit', () => note.rev == 1 || len(Told('textDocument/didChange')) > count)
  listener_remove(listener)
  sync.Flush(note, true)
  assert_equal(1, note.rev)
  assert_equal(getline(1, '$') + [''], note.shadow)
  assert_equal(5, getline(1, '$')->count('of others'))
  assert_equal(55, line('$'))
  assert_equal(bytes + 50, note.bytes)
  pending.Ask('notes/list', {})
  assert_equal(count, len(Told('textDocument/didChange')), 'words of others that went out as typed')
enddef

# Two services at once would both take in what the buffers have.
def ARestartKillsAServiceThatHangsAndWaitsForItsEnd()
  const note = Note('Hung', ['milk'])
  const hung = job_info()->filter((_, it) => job_status(it) ==# 'run')
  assert_equal(1, len(hung))
  const incarnation = service.Incarnation()
  service.Notify('test/hang', {})
  WaitTold('test/hang', 1)
  NotesRestart
  assert_equal(['run', 'restarting', incarnation], [job_status(hung[0]), service.State(), service.Incarnation()])
  # What is asked meanwhile is answered by the next one.
  NotesStatus
  Wait('the next one', () => service.IsReady())
  assert_equal(['dead', incarnation + 1], [job_status(hung[0]), service.Incarnation()])
  Wait('the note', () => b:notes_lsp.synced)
  NotesStop
  assert_equal('stopped', service.State())
  NotesRestart
  Wait('the third one', () => service.IsReady())
enddef

def AnotherPersonsCaretMovesNothingUnderAnOperator()
  const note = Note('Followed', ['one two', 'three four', 'five six'])
  presence.Show(note, Peers(0))
  NotesFollow Ben
  onoremap <F2> <Cmd>call g:NotesTestMove()<CR>
  g:NotesTestMove = () => presence.Show(note, Peers(2))
  feedkeys("d\<F2>w", 'xt')
  ounmap <F2>
  assert_equal(3, line('$'))
  assert_notmatch('^five', getline(1))
  # It is followed once the command is over.
  &l:statusline = '%{g:NotesTestRuler()}'
  presence.Show(note, Peers(1))
  Wait('the caret', () => line('.') == 2)
  assert_equal(2, ruler, 'the status line says where one is')
  &l:statusline = ''
  NotesFollow
enddef

# The line in a status line when it was drawn last.
var ruler = 0

def g:NotesTestRuler(): string
  ruler = line('.')
  return ''
enddef

def AFileWithNulBytesIsSaidToHaveThem()
  execute 'edit' fake.directory .. '/nul.txt'
  setline(1, "one\ntwo")
  NotesAdopt
  Wait('the reason', () => execute('messages') =~# 'The file has NUL bytes, so it cannot be a note')
  setlocal nomodified
enddef

def ReadingAFileAgainReturnsToTheSameWords()
  final note = Note('Reread', ['one', 'two', 'three'])
  silent write
  append(0, 'new')
  sync.Flush(note, false)
  cursor(3, 2)
  edit!
  const start = {line: 0, character: 0}
  Say('notes/edit', {uri: note.uri, version: note.version, rev: 1, edits: [
    {range: {start: start, end: start}, newText: "new\n"}], bytes: note.bytes + 4, cause: 'reload'})
  Wait('the word', () => getline(1) ==# 'new')
  assert_equal([3, 2], [line('.'), col('.')])
enddef

def OneGoesToNoCaretThatComesAfterOneHasMoved()
  Note('Start', ['here'])
  NotesGo Ben
  Wait('the note', () => bufname() =~ 'Joined\.md$')
  final note = buffer.Of(bufnr())
  setline(1, ['one', 'two', 'three'])
  sync.Flush(note, false)
  presence.Show(note, Peers(2))
  Wait('the caret', () => line('.') == 3)
  # A second time: the user types before the caret comes.
  execute 'buffer' bufnr('Start\.md$')
  NotesGo Ben
  Wait('the note', () => bufname() =~ 'Joined\.md$')
  cursor(1, 2)
  presence.Show(note, Peers(1))
  doautocmd <nomodeline> SafeState
  assert_equal(1, line('.'))
  cursor(1, 1)
  presence.Show(note, Peers(2))
  doautocmd <nomodeline> SafeState
  assert_equal(1, line('.'))
enddef

def ANoteThatIsWipedOutAndOpenedAgainStaysOpen()
  const note = Note('Again', ['one'])
  silent write
  const path = note.path
  const uri = note.uri
  const Opened = () => readfile(fake.log, 'b')->slice(0, -1)->mapnew((_, it) => json_decode(it))
    ->filter((_, it) => it->get('method', '') =~# '^textDocument/did\(Open\|Close\)$' && it.params.textDocument.uri ==# uri)
    ->mapnew((_, it) => it.method)
  execute 'bwipeout! | edit' fnameescape(path)
  const again = buffer.Of(bufnr())
  assert_notequal(note.bufnr, again->get('bufnr', 0))
  # The timer that closes what stays unloaded has run after this one was set.
  final box = {isOver: false}
  timer_start(1, (_) => {
    box.isOver = true
  })
  Wait('the timers', () => box.isOver)
  service.Notify('textDocument/didSave', {textDocument: {uri: uri}})
  WaitTold('textDocument/didSave', 2)
  assert_equal('textDocument/didOpen', Opened()[-1])
enddef

def StatusDoesNotClaimWhatTheServiceHasNotOpened()
  const note = Note('Unopened', ['one'])
  Wait('the first proof', () => note.proven > 0)
  messages clear
  # The service's answer about itself.
  Say('notes/statusChanged', {uri: note.uri, stored: true, network: 'on', documents: 1, peers: []})
  NotesStatus
  Wait('the answer', () => {
    status.OnActivity()
    return execute('messages') =~# 'has not opened this note'
  })
  assert_notmatch('Stored', execute('messages'))
enddef

def ASlowAnswerOpensNothingWhileOneTypes()
  for [command, method, what] in [['NotesNew Slow', 'notes/create', '"Slow"'], ['NotesImport /tmp/x.md', 'notes/import', '"Joined"'],
      ['NotesFind milk', 'notes/list', 'What was found'], ['NotesOpen Slow', 'notes/open', '"Slow"']]
    const note = Note('Busy', ['one'])
    messages clear
    service.Notify('test/slow', {method: method})
    const count = len(Told(method))
    execute command
    WaitTold(method, count + 1)
    setline(1, 'typed')
    cursor(1, 3)
    service.Notify('test/answer', {})
    Wait(command .. ' announced', () => {
      status.OnActivity()
      return execute('messages') =~# what .. ' is ready: :NotesShow'
    })
    assert_equal([note.bufnr, 'typed'], [bufnr(), getline(1)], command)
    NotesShow
    Wait(command .. ' shown', () => bufnr() != note.bufnr)
    silent only!
    execute 'buffer' note.bufnr
  endfor
enddef

def OfManyMessagesOnlyNewsIsDropped()
  const note = Note('Flood', ['one'])
  messages clear
  status.OnActivity()
  status.Warn('read this')
  status.Urge('the first words')
  status.Urge('where the words are')
  for number in range(30)
    status.Say($'news {number}')
  endfor
  Wait('the words', () => {
    status.OnActivity()
    return execute('messages') =~# 'where the words are'
  })
  Wait('the warning', () => {
    status.OnActivity()
    return execute('messages')->count('read this') >= 1
  })
  status.Forget('news')
enddef

def PointingBehindTheLastLineMarksTheLastLine()
  const note = Note('Pointed', ['one', 'two'])
  messages clear
  const end = {line: 2, character: 0}
  for start in [end, {line: 0, character: 0}]
    Say('notes/event', {uri: note.uri, kind: 'pointed', peer: 'b', name: 'Ben', range: {start: start, end: end},
      message: $'Look at {start.line}', level: 'news'})
    Wait('the message', () => {
      status.OnActivity()
      return execute('messages') =~# $'Look at {start.line}'
    })
    assert_equal(['NotesPointed'], prop_list(2)->mapnew((_, it) => it.type)->uniq())
  endfor
  assert_notmatch('E966', execute('messages'))
enddef

def LinesToRestoreStayTheSameLines()
  const note = Note('Restored', ['one', 'two', 'three', 'four'])
  :2,3NotesRestore
  Wait('the list', () => line('$') == 2 && getline(2) =~ 'noon')
  # By the user, who has not left the line yet, and by others.
  appendbufline(note.bufnr, 0, 'above')
  feedkeys("R", 'x')
  assert_equal({start: {line: 2, character: 0}, end: {line: 4, character: 0}}, WaitTold('notes/restore', 1)->get('range', {}))
  feedkeys('q', 'x')
  # Lines that the user gave up on are not those of the next list.
  :2,3NotesRestore
  Wait('the list', () => line('$') == 2)
  feedkeys('q', 'x')
  NotesHistory
  Wait('the list', () => line('$') == 2)
  cursor(2, 1)
  feedkeys("R", 'x')
  assert_false(WaitTold('notes/restore', 2)->has_key('range'))
  feedkeys('q', 'x')
enddef

def ARequestWithoutAProgramFails()
  NotesStop
  Wait('its end', () => job_info()->copy()->filter((_, it) => job_status(it) ==# 'run') == [])
  const command = g:notes_lsp_command
  g:notes_lsp_command = ['/no/such/program']
  final box = {answers: []}
  service.Request('notes/list', {}, (answer) => {
    box.answers->add(answer)
  })
  Wait('the failure', () => !empty(box.answers))
  assert_true(box.answers[0]->has_key('error'))
  # A list of which nothing is known does not stay.
  Notes
  Wait('no list', () => bufname() !~# '\[Notes]')
  g:notes_lsp_command = command
  assert_equal(1, len(box.answers))
enddef

def AURIHasOnlyASCII()
  assert_equal('file:///tmp/Cafe%CC%81%20%F0%9F%98%80%25~.md', files.URI("/tmp/Cafe\u0301 😀%~.md"))
enddef

verdict.Run([
  ['AURIHasOnlyASCII', AURIHasOnlyASCII],
  ['AnotherBufferThatAnAutocommandOpensIsNotTheNote', AnotherBufferThatAnAutocommandOpensIsNotTheNote],
  ['AnEditThatIsInterruptedIsAppliedInFull', AnEditThatIsInterruptedIsAppliedInFull],
  ['ARestartKillsAServiceThatHangsAndWaitsForItsEnd', ARestartKillsAServiceThatHangsAndWaitsForItsEnd],
  ['AnotherPersonsCaretMovesNothingUnderAnOperator', AnotherPersonsCaretMovesNothingUnderAnOperator],
  ['AFileWithNulBytesIsSaidToHaveThem', AFileWithNulBytesIsSaidToHaveThem],
  ['ReadingAFileAgainReturnsToTheSameWords', ReadingAFileAgainReturnsToTheSameWords],
  ['OneGoesToNoCaretThatComesAfterOneHasMoved', OneGoesToNoCaretThatComesAfterOneHasMoved],
  ['ANoteThatIsWipedOutAndOpenedAgainStaysOpen', ANoteThatIsWipedOutAndOpenedAgainStaysOpen],
  ['StatusDoesNotClaimWhatTheServiceHasNotOpened', StatusDoesNotClaimWhatTheServiceHasNotOpened],
  ['ASlowAnswerOpensNothingWhileOneTypes', ASlowAnswerOpensNothingWhileOneTypes],
  ['OfManyMessagesOnlyNewsIsDropped', OfManyMessagesOnlyNewsIsDropped],
  ['PointingBehindTheLastLineMarksTheLastLine', PointingBehindTheLastLineMarksTheLastLine],
  ['LinesToRestoreStayTheSameLines', LinesToRestoreStayTheSameLines],
  ['ARequestWithoutAProgramFails', ARequestWithoutAProgramFails],
])
