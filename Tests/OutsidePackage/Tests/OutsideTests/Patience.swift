/// A busy machine takes its time; a test that hangs is ended by the person who runs it.
extension Duration {
  static let patient = Duration.seconds(3600)
}
