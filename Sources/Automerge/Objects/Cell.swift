/// Stores a value of one owner, which never uses the value while it is being changed.
///
/// Unsafe: Swift checks at run time that accesses to a class's stored properties do not overlap, which costs more than
/// a keystroke's work on the tree. Accesses to a cell are not checked. Its invariants: a cell belongs to one object of
/// one document core, which is used by one thread at a time (`Document` locks), and nothing that changes a cell's value
/// in place calls back into the owner's code that reads the same cell.
struct Cell<Value: ~Copyable>: ~Copyable {
  let address: UnsafeMutablePointer<Value>

  init(_ value: consuming Value) {
    address = .allocate(capacity: 1)
    address.initialize(to: value)
  }

  deinit {
    address.deinitialize(count: 1)
    address.deallocate()
  }
}
