/** What one process starts for several test files. */
export interface Resource {
  /** With these its users find it. */
  readonly environment: Readonly<Record<string, string>>
  readonly stop: () => Promise<void>
}

/** Starts something when the first of its users begins, and stops it when the last has ended. */
export class ReferenceCounted {
  readonly #start: () => Promise<Resource>
  #usersLeft: number
  #started: Promise<Resource> | undefined

  constructor(users: number, start: () => Promise<Resource>) {
    this.#usersLeft = users
    this.#start = start
  }

  /** Runs one user. Where nothing could be started it gets no variables, and tells by itself what is wrong. */
  async use<T>(run: (environment: Resource['environment']) => Promise<T>): Promise<T> {
    this.#started ??= this.#start()
    const environment = await this.#started.then(
      (resource) => resource.environment,
      () => ({}),
    )
    try {
      return await run(environment)
    } finally {
      this.#usersLeft -= 1
      if (this.#usersLeft === 0) await this.stop()
    }
  }

  /** Also when not all of its users came. */
  async stop(): Promise<void> {
    const started = this.#started
    this.#started = undefined
    await started?.then(
      (resource) => resource.stop(),
      () => {},
    )
  }
}
