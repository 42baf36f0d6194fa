/**
 * Waits for a promise, but no longer than `ms`.
 * @returns what the promise resolves to; undefined when it took too long, after calling `late`
 */
export async function waitAtMost<T>(ms: number, promise: Promise<T>, late: () => unknown): Promise<T | undefined> {
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
