let end: Promise<void> | undefined

/**
 * Resolves when the event loop has read all that had arrived. Messages that are sent after it leave together: one write of
 * this process, one read of the broker, and one batch for those who receive them.
 */
export function endOfTurn(): Promise<void> {
  end ??= new Promise((resolve) => {
    setImmediate(() => {
      end = undefined
      resolve()
    })
  })
  return end
}
