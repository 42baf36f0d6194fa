/** Waits for a promise, but no longer than `ms`: then `late` is called and the answer is undefined. */
export async function within<T>(ms: number, promise: Promise<T>, late: () => unknown): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => {
      late()
      resolve(undefined)
    }, ms)
  })
  try {
    return await Promise.race([promise, timeout])
  } finally {
    clearTimeout(timer)
  }
}
