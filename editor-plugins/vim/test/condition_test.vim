vim9script
# What the status line and the messages say of a buffer in each of its conditions, with a service that a test commands.

import autoload 'notes_lsp/buffer.vim'
import autoload 'notes_lsp/condition.vim'
import autoload 'notes_lsp/sync.vim'
import autoload 'notes_lsp/service.vim'
import autoload 'notes_lsp/status.vim'
import './fake.vim'
import './verdict.vim'

const [Wait, Told, WaitTold, Say, Note] = [fake.Wait, fake.Told, fake.WaitTold, fake.Say, fake.Note]

def Shows(line: string)
  try
    Wait(line, () => notes_lsp#Status() ==# line)
  catch
    assert_equal(line, notes_lsp#Status())
  endtry
enddef

def IsTold(message: string)
  Wait(message, () => execute('messages') =~# 'Notes: ' .. message)
  status.OnActivity()
enddef

# `company`: what the service says of the people, by default that all are in sync.
def StatusIs(note: dict<any>, peers: list<any>, more: dict<any> = {})
  const company = empty(peers) ? [] : [{text: 'synced with ', whenLater: 'sending to '}]
    + peers->mapnew((_, it) => [{text: ', '}, {text: it.name, name: it.name}])->flattennew(1)[1 :]
  Say('notes/statusChanged', {uri: note.uri, stored: true, network: 'on', discovery: 'on', peers: peers, company: company}->extend(more))
enddef

def Event(note: dict<any>, kind: string, more: dict<any>)
  Say('notes/event', {uri: note.uri, kind: kind, peer: 'b', name: 'Ben'}->extend(more))
enddef

def TheStatusLineSaysHowFarTheOthersAre()
  const note = Note('Status', [])
  Shows('[note]')
  const ana = {peer: 'a', name: 'Ana', inSync: true, pending: 0, state: 'inSync'}
  StatusIs(note, [ana])
  Shows('[note: synced with Ana]')
  # In the service's words and order, with what is behind a name.
  StatusIs(note, [ana], {company: [
    {text: 'receiving from '}, {text: 'Cy', name: 'Cy'}, {text: ' (34%)'},
    {text: '; 3 changes not yet sent to '}, {text: 'Bo', name: 'Bo'}, {text: ', '}, {text: 'Di', name: 'Di'},
    {text: '; '}, {text: 'Theodora Longna…', name: 'Theodora Longname'}, {text: ' unreachable'}]})
  Shows('[note: receiving from Cy (34%); 3 changes not yet sent to Bo, Di; Theodora Longna… unreachable]')
  StatusIs(note, [ana], {company: [{text: 'synced with ', whenLater: 'sending to '}, {text: '5 people'}]})
  Shows('[note: synced with 5 people]')
enddef

# Once, with the reason that the service names.
def TheStatusSaysWhyANoteIsNotStored()
  const note = Note('Full', [])
  StatusIs(note, [], {stored: false, company: [{text: 'not stored: the disk is full'}]})
  NotesStatus
  IsTold('Not stored: the disk is full$')
  StatusIs(note, [], {stored: false})
  NotesStatus
  IsTold('Not stored yet; not shared$')
enddef

def SyncedIsSaidOnlyOfATextThatWasProved()
  final note = Note('Proved', ['one'])
  StatusIs(note, [{peer: 'a', name: 'Ana', inSync: true, pending: 0, state: 'inSync'}])
  Shows('[note: synced with Ana]')
  setline(1, 'two')
  sync.Flush(note, false)
  assert_equal('[note: sending to Ana]', notes_lsp#Status())
  Shows('[note: synced with Ana]')
enddef

# What a status line said when it was drawn last.
var drawn = ''

def g:NotesTestDrawn(): string
  drawn = notes_lsp#Status()
  return drawn
enddef

# What the service proved while an edit waited becomes true of the buffer when that is done.
def TheStatusLineIsDrawnAnewWhenTheQueueIsEmpty()
  final note = Note('Drawn', ['one'])
  StatusIs(note, [{peer: 'a', name: 'Ana', inSync: true, pending: 0, state: 'inSync'}])
  Shows('[note: synced with Ana]')
  &l:statusline = '%{g:NotesTestDrawn()}'
  note.queue->add({})
  buffer.Publish(note)
  condition.Refresh()
  assert_equal('[note: sending to Ana]', drawn)
  note.queue->remove(-1)
  buffer.Publish(note)
  assert_equal('[note: synced with Ana]', drawn)
  &l:statusline = ''
enddef

# The plugin asks about no version while no one else has the note.
def SyncedIsSaidOfATextThatIsOlderThanItsCompany()
  final note = Note('Older', ['one'])
  StatusIs(note, [])
  Wait('the first proof', () => note.proven == note.version)
  setline(1, 'two')
  listener_flush()
  sync.Flush(note, false)
  assert_true(note.proven != note.version)
  StatusIs(note, [{peer: 'a', name: 'Ana', inSync: true, pending: 0, state: 'inSync'}])
  Shows('[note: synced with Ana]')
enddef

# The file still has the former one.
def RenamingOffersThePresentTitle()
  const note = Note('Former', [])
  StatusIs(note, [], {title: 'Present'})
  Wait('the title', () => note->get('status', {})->get('title', '') != '')
  feedkeys(":NotesRename\<CR> one\<CR>", 'xt')
  assert_equal('Present one', WaitTold('notes/rename', 1).title)
enddef

def AReadOnlyNoteIsReadOnlyAndFollowsTheHost()
  NotesJoin a-ticket
  Wait('the note', () => bufname() =~ 'Joined\.md$' && !empty(buffer.Of(bufnr())))
  final note = buffer.Of(bufnr())
  IsTold('Read-only. :NotesCopy makes a copy to edit')
  assert_equal([false, true], [&modifiable, &readonly])
  StatusIs(note, [], {access: 'read', company: [{text: 'read-only'}]})
  Shows('[note: read-only]')
  const start = {line: 0, character: 0}
  Say('notes/edit', {uri: note.uri, version: note.version, rev: 1, edits: [
    {range: {start: start, end: start}, newText: "by Ana\n"}], bytes: 7, cause: 'remote'})
  Wait('the edit', () => getline(1) ==# 'by Ana')
  assert_equal([false, true, false], [&modifiable, &readonly, &modified])
  messages clear
  feedkeys("u", 'x')
  IsTold('Read-only. :NotesCopy makes a copy to edit')
  assert_equal(0, len(Told('notes/undo')))
  Event(note, 'access', {access: 'write', message: 'Ben lets you edit "Joined" now'})
  IsTold('Ben lets you edit')
  assert_equal([true, false], [&modifiable, &readonly])
  Event(note, 'access', {access: 'read', message: 'Ben made "Joined" read-only for you'})
  IsTold('Ben made "Joined" read-only')
  assert_equal([false, true], [&modifiable, &readonly])
  NotesCopy
  Wait('the copy', () => bufname() =~ 'Joined copy\.md$')
  assert_equal({title: 'Joined copy', uri: note.uri}, Told('notes/copy')[-1])
  assert_equal([true, false], [&modifiable, &readonly])
enddef

def ANoteThatIsOneNoLongerIsAPlainFile()
  for [reason, word] in [['deleted', 'deleted'], ['deletedForEveryone', 'deleted for everyone'],
      ['itemDeleted', 'item deleted'], ['purged', 'removed for good']]
    const note = Note($'Gone {reason}', ['kept'])
    assert_true(maparg('u', 'n', false, true)->get('buffer', 0) == 1)
    Event(note, 'detached', {reason: reason, message: $'Ben {word} it; undelete restores it',
      line: $'Ben {word} it; :NotesUndelete restores it'})
    IsTold($'Ben {word} it; :NotesUndelete restores it')
    Shows($'[not a note: {word}]')
    assert_equal({}, buffer.Of(bufnr()))
    assert_equal(['kept'], getline(1, '$'))
    assert_equal('', maparg('u', 'n'))
    const count = len(Told('textDocument/didChange'))
    setline(1, 'typed')
    doautocmd <nomodeline> TextChanged
    assert_equal(count, len(Told('textDocument/didChange')))
    NotesStatus
    IsTold($'Not a note any more: {word}. Service running')
  endfor
enddef

# The buffer went while the service was keeping its text.
def AnItemsTextThatWasKeptAfterItsBufferIsTold()
  Say('notes/event', {uri: 'file:///gone/Drinks.md', kind: 'detached', reason: 'deleted', message: 'Not told'})
  Say('notes/event', {uri: 'file:///gone/Drinks.md', kind: 'detached', reason: 'itemDeleted', message: 'Kept as recovered'})
  IsTold('Kept as recovered')
  assert_true(execute('messages') !~# 'Not told')
enddef

# A map can only be removed in its buffer; until then it does what the key does anywhere.
def UndoWorksInABufferThatWasDetachedOutOfSight()
  const note = Note('Hidden', ['kept'])
  const hidden = bufnr()
  enew
  Event(note, 'detached', {reason: 'deleted', message: 'Deleted elsewhere'})
  IsTold('Deleted elsewhere')
  execute 'buffer' hidden
  setline(1, 'typed')
  feedkeys('u', 'x')
  assert_equal(['kept'], getline(1, '$'))
  assert_equal('', maparg('u', 'n'))
enddef

def OwnDeletionIsToldOnce()
  const note = Note('Mine', [])
  messages clear
  # The service tells of it before it answers.
  Event(note, 'detached', {reason: 'deleted', message: 'Deleted "Mine"'})
  NotesDelete!
  IsTold('Deleted "Mine"')
  Event(note, 'online', {message: 'Ben is online', level: 'news'})
  IsTold('Ben is online')
  assert_equal(1, execute('messages')->count('Deleted'))
enddef

def ANoteThatIsSharedNoLongerSaysSo()
  const note = Note('Unshared', [])
  StatusIs(note, [{peer: 'b', name: 'Ben', state: 'inSync', inSync: true}])
  Shows('[note: synced with Ben]')
  Event(note, 'unshared', {message: 'Ben stopped sharing "Unshared"; your copy stays'})
  IsTold('Ben stopped sharing')
  Shows('[note: no longer shared]')
  assert_equal('id-of-Unshared', b:notes_lsp.id)
enddef

def RefusedWordsAreTold()
  const note = Note('Refused', [])
  Event(note, 'refused', {message: 'Read-only: "Refused" stays; your words are in a copy', recovered: '/tmp/x.md',
    line: ':NotesRecovered has your words; this note is read-only', level: 'words'})
  IsTold(':NotesRecovered has your words; this note is read-only')
  # Also of a note that no buffer shows.
  Say('notes/event', {uri: 'file:///closed.md', kind: 'refused', message: 'Read-only: "Closed" stays', recovered: '/tmp/x.md'})
  IsTold('Read-only: "Closed" stays')
enddef

def OfflineSaysWhyAndThatTypingIsKept()
  Note('Offline', [])
  NotesStop
  Shows('[note: offline (stopped)]')
  NotesStatus
  IsTold('Offline: service stopped; typing is kept. :NotesRestart')
  NotesRestart
  Shows('[note]')
enddef

def APlainFileIsSaidToBeOne()
  enew
  assert_equal('', notes_lsp#Status())
  NotesStatus
  IsTold('Not a note (:NotesAdopt makes it one). Service running')
enddef

def NewsWaitsUntilAnErrorIsRead()
  const note = Note('News', [])
  messages clear
  status.Warn('an error')
  Event(note, 'online', {message: 'Ben is online', level: 'news'})
  Event(note, 'online', {message: ''})
  Event(note, 'online', {message: 'Cleo is online', level: 'news'})
  Event(note, 'status', {})
  StatusIs(note, [], {company: [{text: 'no network: later'}]})
  Shows('[note: no network: later]')
  assert_true(execute('messages') !~ 'online', 'news over an error that is not read')
  status.OnActivity()
  IsTold('Ben is online')
  IsTold('Cleo is online')
  assert_true(execute('messages') !~ 'Notes: *\n', 'an empty message')
  assert_equal(1, execute('messages')->count('an error'))
enddef

def WhereTheWordsAreComesFirst()
  messages clear
  status.OnActivity()
  status.Warn('news that is not read')
  Wait('the news', () => execute('messages') =~# 'news that is not read')
  # At once: what Wait does while it waits is what Vim does at a key, by which one has read the news.
  status.Tell({kind: 'access', message: 'Ana made "First" read-only for you'})
  status.Tell({kind: 'recovered', message: 'Kept as recovered: a copy of "First"',
    line: ':NotesRecovered has a copy of "First"', level: 'words'})
  Wait('the words', () => execute('messages') =~# 'Notes: :NotesRecovered has a copy of "First"')
  assert_true(execute('messages') !~# 'Ana made', 'it waits for the words')
  status.OnActivity()
  Wait('what was not read', () => execute('messages')->count('news that is not read') == 2)
  status.OnActivity()
  IsTold('Ana made "First" read-only for you')
enddef

def ATicketIsShownAgain()
  execute 'edit' fake.directory .. '/ticket.txt'
  NotesTicket
  IsTold('Not a note. :NotesShare shares it')
  NotesShare
  const from = win_getid()
  Wait('the ticket', () => bufwinnr('\[Notes ticket]') > 0)
  assert_equal(from, win_getid())
  setreg('"', '')
  NotesTicket
  assert_equal(-1, bufwinnr('\[Notes ticket]'))
  NotesTicket
  Wait('the ticket again', () => bufwinnr('\[Notes ticket]') > 0)
  assert_equal(['What it allows', '', 'a-ticket'], getbufline('\[Notes ticket]', 1, 3))
  assert_equal('a-ticket', getreg('"'))
  NotesTicket
enddef

def ATicketThatNoLongerWorksIsNotShown()
  Note('Ticketed', [])
  const Shown = () => getbufline('\[Notes ticket]', 1, '$')
  NotesShare
  Wait('the ticket', () => bufwinnr('\[Notes ticket]') > 0)
  fake.Say('notes/event', {kind: 'tickets', id: 'another'})
  NotesUnshare
  Wait('the end of the ticket', () => Shown() == ['This ticket no longer works. :NotesShare makes a new one'])
  NotesShare
  Wait('another ticket', () => Shown()->get(0, '') ==# 'What it allows')
  NotesTicket
  assert_equal(-1, bufwinnr('\[Notes ticket]'))
enddef

def ClosingAListReturnsToTheWindowOneCameFrom()
  only
  Note('Left', [])
  rightbelow vsplit
  Note('Right', [])
  const from = win_getid()
  Notes
  const notes = win_getid()
  assert_notequal(from, notes)
  NotesPeers
  feedkeys('q', 'x')
  assert_equal(notes, win_getid())
  feedkeys('q', 'x')
  assert_equal(from, win_getid())
  only
enddef

verdict.Run([
  ['TheStatusLineSaysHowFarTheOthersAre', TheStatusLineSaysHowFarTheOthersAre],
  ['SyncedIsSaidOnlyOfATextThatWasProved', SyncedIsSaidOnlyOfATextThatWasProved],
  ['TheStatusLineIsDrawnAnewWhenTheQueueIsEmpty', TheStatusLineIsDrawnAnewWhenTheQueueIsEmpty],
  ['SyncedIsSaidOfATextThatIsOlderThanItsCompany', SyncedIsSaidOfATextThatIsOlderThanItsCompany],
  ['TheStatusSaysWhyANoteIsNotStored', TheStatusSaysWhyANoteIsNotStored],
  ['RenamingOffersThePresentTitle', RenamingOffersThePresentTitle],
  ['AReadOnlyNoteIsReadOnlyAndFollowsTheHost', AReadOnlyNoteIsReadOnlyAndFollowsTheHost],
  ['ANoteThatIsOneNoLongerIsAPlainFile', ANoteThatIsOneNoLongerIsAPlainFile],
  ['AnItemsTextThatWasKeptAfterItsBufferIsTold', AnItemsTextThatWasKeptAfterItsBufferIsTold],
  ['UndoWorksInABufferThatWasDetachedOutOfSight', UndoWorksInABufferThatWasDetachedOutOfSight],
  ['OwnDeletionIsToldOnce', OwnDeletionIsToldOnce],
  ['ANoteThatIsSharedNoLongerSaysSo', ANoteThatIsSharedNoLongerSaysSo],
  ['RefusedWordsAreTold', RefusedWordsAreTold],
  ['WhereTheWordsAreComesFirst', WhereTheWordsAreComesFirst],
  ['OfflineSaysWhyAndThatTypingIsKept', OfflineSaysWhyAndThatTypingIsKept],
  ['APlainFileIsSaidToBeOne', APlainFileIsSaidToBeOne],
  ['NewsWaitsUntilAnErrorIsRead', NewsWaitsUntilAnErrorIsRead],
  ['ATicketIsShownAgain', ATicketIsShownAgain],
  ['ATicketThatNoLongerWorksIsNotShown', ATicketThatNoLongerWorksIsNotShown],
  ['ClosingAListReturnsToTheWindowOneCameFrom', ClosingAListReturnsToTheWindowOneCameFrom],
])
