/**
 * A step with which a service changes something outside of its process. Whatever it does between two steps, nobody else
 * can see. So these are all the points where a crash, or the order of two calls, can make a difference.
 */
export interface Step {
  readonly kind: 'statement' | 'commit' | 'call' | 'publish'
  /** The text of the statement, the operation that is called (`service.operation`), or the kind of the event. */
  readonly name: string
  /** The transaction of a statement or a commit. Without one, a statement is a transaction of its own. */
  readonly transaction?: object
}

/**
 * Stands around each step of a service, and calls `run` to take it. Only tests give a service one: to hold a step up, to
 * put the steps of two calls in order, or to let the service die before or after a step. Without one nothing is wrapped.
 */
export type Interceptor = <T>(step: Step, run: () => Promise<T>) => Promise<T>
