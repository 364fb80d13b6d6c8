/// The limits that a provider's links share: the loop's time, and memory in each direction. Nil means no limit.
package struct LinkBudgets {
  package var share: WorkShare?
  package var unsent: UnsentBytes?
  package var unfinished: UnfinishedFrames?

  package init(share: WorkShare? = nil, unsent: UnsentBytes? = nil, unfinished: UnfinishedFrames? = nil) {
    (self.share, self.unsent, self.unfinished) = (share, unsent, unfinished)
  }
}
