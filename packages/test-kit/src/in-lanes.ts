const lanes = 4

/**
 * `Promise.all(items.map(work))`, a few at a time. The last of many calls at once waits for all others, and on a slow
 * machine its limit passes meanwhile.
 */
export async function inLanes<Item, Result>(
  items: readonly Item[],
  work: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  const waiting = items.entries()
  const lane = async () => {
    for (const [index, item] of waiting) results[index] = await work(item, index)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  return results
}
