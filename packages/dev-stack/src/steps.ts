/** Shows the person at the terminal what happens, with the time that each step took. */
export class Steps {
  readonly #startedAt = performance.now()

  async run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const startedAt = performance.now()
    const result = await work()
    this.say(`${name.padEnd(52)}${seconds(performance.now() - startedAt).padStart(8)}`)
    return result
  }

  say(line: string): void {
    process.stdout.write(`${line}\n`)
  }

  get elapsed(): string {
    return seconds(performance.now() - this.#startedAt)
  }
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`
