import type { FastifyReply } from 'fastify'

/** Sends the browser to another page. htmx is told by a header: it would follow a redirect to another origin in vain. */
export function goTo(reply: FastifyReply, address: string): FastifyReply {
  if (reply.request.headers['hx-request'] === 'true') return reply.code(200).header('HX-Redirect', address).send('')
  return reply.redirect(address, 303)
}

/** An address of this console, and of nowhere else, whatever a link says. */
export function ownAddress(address: unknown): string {
  if (typeof address !== 'string' || !/^\/(?![/\\])[\w\-./?=&%~:+]*$/.test(address)) return '/'
  return address
}
