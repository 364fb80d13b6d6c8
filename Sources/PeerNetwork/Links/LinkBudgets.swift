/// What the links of a provider share: the loop's time, and memory in each direction. Nil is no limit.
struct LinkBudgets {
  var share: WorkShare?
  var unsent: UnsentBytes?
  var unfinished: UnfinishedFrames?
}
