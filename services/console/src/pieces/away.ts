import { Rejection, type ServiceName } from '@backoffice/contracts'

const isAway = (error: unknown): boolean => error instanceof Rejection && error.code === 'SERVICE_UNAVAILABLE'

/** For `catch`: what is shown while the service that was asked does not answer. What it refuses is thrown. */
export const whenAway =
  <Shown>(shown: Shown) =>
  (error: unknown): Shown => {
    if (isAway(error)) return shown
    throw error
  }

/** Asks several services at once. Those that do not answer are missing, in the order of `services`. */
export async function askEach<Reply>(
  services: readonly ServiceName[],
  ask: (service: ServiceName) => Promise<Reply>,
): Promise<{ readonly replies: readonly Reply[]; readonly missing: readonly ServiceName[] }> {
  const asked = services.map(async (service) => ({
    service,
    reply: await ask(service).catch(whenAway(undefined)),
  }))
  const answers = await Promise.all(asked)
  return {
    replies: answers.flatMap(({ reply }) => (reply === undefined ? [] : [reply])),
    missing: answers.flatMap(({ service, reply }) => (reply === undefined ? [service] : [])),
  }
}
