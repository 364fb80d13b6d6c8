import Foundation
import SwiftOperators
import SwiftParser
import SwiftSyntax

// mutate SEED COUNT FIRST SKIP FILE…: puts COUNT mutants into the files, numbered from FIRST, each behind a switch, and prints what
// they are, a line of JSON each. SKIP is a file with the places, one a line, where none can be: those that did not compile. The switch
// is `Mutant.on`; see mutants.py, which writes it into each module.

/// A place in a file, and what stands there while the mutant's switch is on.
struct Site {
  let file: String
  let range: Range<Int>
  let line: Int
  let kind: String
  let before: String
  /// The text in place of the old one, `#` for the number of the mutant.
  let replacement: String
  let after: String

  /// The same place, whichever number it gets.
  var key: String { "\(file):\(range.lowerBound):\(kind)" }
}

/// Finds the places of one file where a mutant can stand.
final class SiteFinder: SyntaxVisitor {
  private(set) var sites: [Site] = []
  private let file: String
  private let converter: SourceLocationConverter
  /// Which declarations stand around the present one: only bodies of functions have mutants.
  private var bodyDepth = 0
  /// In an initializer every property has to be set.
  private var initializerDepth = 0

  private static let swaps = [
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&", "+": "-", "-": "+",
    "*": "+",
    "<<": ">>", ">>": "<<", "&": "|", "|": "&",
  ]

  init(_ file: String, _ tree: Syntax) {
    self.file = file
    converter = SourceLocationConverter(fileName: file, tree: tree)
    super.init(viewMode: .sourceAccurate)
  }

  private func add(_ node: some SyntaxProtocol, _ kind: String, _ replacement: String, _ after: String) {
    guard bodyDepth > 0 else { return }
    let (start, end) = (node.positionAfterSkippingLeadingTrivia, node.endPositionBeforeTrailingTrivia)
    sites.append(
      Site(
        file: file, range: start.utf8Offset..<end.utf8Offset, line: converter.location(for: start).line, kind: kind,
        before: node.trimmedDescription, replacement: replacement, after: after))
  }

  override func visit(_ node: InfixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
    guard let found = node.operator.as(BinaryOperatorExprSyntax.self)?.operator.text, let other = Self.swaps[found]
    else {
      return .visitChildren
    }
    let (left, right) = (node.leftOperand.trimmedDescription, node.rightOperand.trimmedDescription)
    // Texts and lists are joined by `+` too, and have no `-`.
    if "+-*".contains(found), left.contains("\"") || right.contains("\"") || left.hasPrefix("[") || right.hasPrefix("[")
    {
      return .visitChildren
    }
    let swapped = "\(left) \(other) \(right)"
    add(node, "operator", "(Mutant.on(#) ? \(swapped) : \(node.trimmedDescription))", swapped)
    return .visitChildren
  }

  override func visit(_ node: ConditionElementSyntax) -> SyntaxVisitorContinueKind {
    if let condition = node.condition.as(ExprSyntax.self) {
      let text = condition.trimmedDescription
      // `while true` ends by no condition.
      if !condition.is(BooleanLiteralExprSyntax.self), !text.contains("#") {
        add(condition, "condition", "((\(text)) != Mutant.on(#))", "!(\(text))")
      }
    }
    return .visitChildren
  }

  override func visit(_ node: IntegerLiteralExprSyntax) -> SyntaxVisitorContinueKind {
    guard let value = Int(node.literal.text), node.parent?.is(ExpressionPatternSyntax.self) != true else {
      return .skipChildren
    }
    let other = "\(value + 1)"
    add(node, "constant", "(Mutant.on(#) ? \(other) : \(value))", other)
    return .skipChildren
  }

  override func visit(_ node: BooleanLiteralExprSyntax) -> SyntaxVisitorContinueKind {
    guard node.parent?.is(ExpressionPatternSyntax.self) != true,
      node.parent?.is(ConditionElementSyntax.self) != true
    else { return .skipChildren }
    let other = node.literal.text == "true" ? "false" : "true"
    add(node, "constant", "(\(node.literal.text) != Mutant.on(#))", other)
    return .skipChildren
  }

  override func visit(_ node: CodeBlockItemListSyntax) -> SyntaxVisitorContinueKind {
    guard node.count > 1 else { return .visitChildren }
    for item in node {
      guard let expression = item.item.as(ExprSyntax.self) else { continue }
      let text = expression.trimmedDescription
      let isCall = expression.is(FunctionCallExprSyntax.self) || text.hasPrefix("try ") && text.hasSuffix(")")
      let isAssignment =
        expression.as(InfixOperatorExprSyntax.self).map { infix in
          infix.operator.is(AssignmentExprSyntax.self)
            || infix.operator.as(BinaryOperatorExprSyntax.self)?.operator.text.hasSuffix("=") == true
              && Self.swaps[infix.operator.trimmedDescription] == nil
        } ?? false
      let endsProgram = ["precondition", "assert", "super."].contains { text.hasPrefix($0) }
      if isCall && !endsProgram || isAssignment && initializerDepth == 0 {
        add(item, "statement", "if !Mutant.on(#) { \(text) }", "(nothing)")
      }
    }
    return .visitChildren
  }

  // Bodies.

  private func enter(_ hasBody: Bool) -> SyntaxVisitorContinueKind {
    if hasBody { bodyDepth += 1 }
    return .visitChildren
  }

  override func visit(_ node: CodeBlockSyntax) -> SyntaxVisitorContinueKind { enter(true) }
  override func visitPost(_ node: CodeBlockSyntax) { bodyDepth -= 1 }
  override func visit(_ node: AccessorBlockSyntax) -> SyntaxVisitorContinueKind { enter(true) }
  override func visitPost(_ node: AccessorBlockSyntax) { bodyDepth -= 1 }
  override func visit(_ node: AttributeSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
  override func visit(_ node: FunctionParameterClauseSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
  override func visit(_ node: SwitchCaseLabelSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
  override func visit(_ node: ExpressionPatternSyntax) -> SyntaxVisitorContinueKind { .skipChildren }

  override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind { seen(node.attributes) }
  override func visit(_ node: InitializerDeclSyntax) -> SyntaxVisitorContinueKind {
    initializerDepth += 1
    return seen(node.attributes)
  }
  override func visitPost(_ node: InitializerDeclSyntax) { initializerDepth -= 1 }
  override func visit(_ node: VariableDeclSyntax) -> SyntaxVisitorContinueKind { seen(node.attributes) }
  override func visit(_ node: SubscriptDeclSyntax) -> SyntaxVisitorContinueKind { seen(node.attributes) }

  /// What other modules compile into themselves cannot see the switch.
  private func seen(_ attributes: AttributeListSyntax) -> SyntaxVisitorContinueKind {
    attributes.description.contains("inlinable") || attributes.description.contains("_transparent")
      ? .skipChildren : .visitChildren
  }
}

/// Random numbers from a seed: SplitMix64.
struct Generator: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}

@main
enum Mutate {
  static func main() throws {
    let arguments = CommandLine.arguments
    guard arguments.count > 5, let seed = UInt64(arguments[1]), let count = Int(arguments[2]),
      let first = Int(arguments[3])
    else { return print("usage: mutate SEED COUNT FIRST SKIP FILE…") }
    let skipped = Set(
      ((try? String(contentsOfFile: arguments[4], encoding: .utf8)) ?? "").split(separator: "\n").map(String.init))
    let files = arguments[5...].sorted()
    var sources: [String: String] = [:]
    var sites: [Site] = []
    for file in files {
      let source = try String(contentsOfFile: file, encoding: .utf8)
      sources[file] = source
      let tree = OperatorTable.standardOperators.foldAll(Parser.parse(source: source)) { _ in }
      let finder = SiteFinder(file, Syntax(tree))
      finder.walk(tree)
      sites += finder.sites
    }
    var random = Generator(state: seed)
    var chosen: [Site] = []
    // Those that did not compile are drawn and numbered as the others are, and left out: so the rest stays the same.
    for site in sites.shuffled(using: &random) where chosen.count < count {
      let isNested = chosen.contains { $0.file == site.file && $0.range.overlaps(site.range) }
      if !isNested { chosen.append(site) }
    }
    let numbered = chosen.enumerated().filter { !skipped.contains($0.element.key) }
    for (offset, site) in numbered {
      let mutant: [String: Any] = [
        "number": first + offset, "file": site.file, "line": site.line, "kind": site.kind, "before": site.before,
        "after": site.after,
        "key": site.key,
      ]
      print(String(decoding: try JSONSerialization.data(withJSONObject: mutant, options: .sortedKeys), as: UTF8.self))
    }
    for (file, source) in sources {
      var bytes = Array(source.utf8)
      for (offset, site) in numbered.sorted(by: { $0.element.range.lowerBound > $1.element.range.lowerBound })
      where site.file == file {
        bytes.replaceSubrange(site.range, with: Array(site.replacement.replacing("#", with: "\(first + offset)").utf8))
      }
      try Data(bytes).write(to: URL(fileURLWithPath: file))
    }
  }
}
