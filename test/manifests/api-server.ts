import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { ApiObjects, type ApiResource, apiResources, merged } from './api-objects.ts'
import { type Asked, allows, refusals, rulesOf } from './authority.ts'
import { Cluster } from './cluster.ts'
import type { Manifest } from './kustomize.ts'
import { refusalsOf } from './transitions.ts'

/** Who asks, which here everybody may say of themselves (`kubectl --as`). */
interface Asker {
  readonly user: string
  readonly groups: readonly string[]
}

export interface Heard extends Asked, Asker {
  readonly refused?: string
}

/** Somebody who may do everything: a cluster's administrators, and what applies the manifests. */
export const masters = 'system:masters'

/**
 * Stands where the API server of a cluster stands, so that the real kubectl can be typed at it: it knows the objects that
 * were rendered, the roles that are bound to people, the policies of admission, and what no object may be changed to. Shells, ports and streams end at the
 * answer whether they are permitted. What controllers do is in `ApiObjects`.
 */
export class ApiServer {
  objects: ApiObjects
  readonly heard: Heard[] = []
  readonly #server: Server

  private constructor(objects: ApiObjects) {
    this.objects = objects
    this.#server = createServer((request, response) => {
      this.#reply(request, response).catch((error: Error) => send(response, failure(500, error.message)))
    })
  }

  static async start(manifests: readonly Manifest[]): Promise<ApiServer> {
    const server = new ApiServer(new ApiObjects(manifests))
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve))
    return server
  }

  get url(): string {
    const address = this.#server.address()
    return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  /** Whether one who has these names may do it, by the roles that are bound now. */
  permits(names: readonly string[], asked: Asked): boolean {
    return names.includes(masters) || allows(rulesOf(new Cluster(this.objects.all), names), asked)
  }

  async #reply(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', this.url)
    const found = discovery(url.pathname)
    if (found !== undefined) return send(response, { status: 200, body: found })
    const place = placeOf(url.pathname)
    if (place === undefined) return send(response, failure(404, `${url.pathname} is not known`))
    const written = await text(request)
    // kubectl writes some kinds of its own in another form, and says nothing there that matters here.
    const body = request.headers['content-type']?.includes('json') ? JSON.parse(written) : {}
    const verb = verbOf(request.method ?? '', place, url)
    const heard = this.#judge(request, place, verb, body)
    this.heard.push(heard)
    if (heard.refused !== undefined) return send(response, failure(403, heard.refused))
    if (verb === 'watch') return void response.writeHead(200, json).flushHeaders()
    send(response, this.#answer(place, verb, body, url.searchParams))
  }

  #judge({ headers }: IncomingMessage, place: Place, verb: string, body: Manifest): Heard {
    const user = String(headers['impersonate-user'])
    const groups = String(headers['impersonate-group']).split(', ')
    const { resource, namespace = '', name = '', subresource } = place
    const asked = {
      group: resource.group,
      resource: subresource === undefined ? resource.name : `${resource.name}/${subresource}`,
      namespace,
      name,
      verb,
    }
    const heard = { ...asked, user, groups }
    const refused = this.#refused(heard, body)
    return refused === undefined ? heard : { ...heard, refused }
  }

  #refused(heard: Heard, body: Manifest): string | undefined {
    const { user, groups, verb, resource, namespace } = heard
    const may = (asked: Asked) => this.permits([user, ...groups], asked)
    if (!may(heard)) return `${user} cannot ${verb} ${resource}.${heard.group} in ${namespace}`
    if (verb !== 'create') return undefined
    if (resource === 'rolebindings') {
      const { kind, name } = body.roleRef
      const role = { group: heard.group, resource: `${kind.toLowerCase()}s`, namespace, name, verb: 'bind' }
      if (!may(role)) return `${user} cannot bind ${name}`
    }
    return refusals(new Cluster(this.objects.all), resource, { namespace, user, groups, object: body })[0]
  }

  #answer(
    { resource, namespace, name, subresource }: Place,
    verb: string,
    body: Manifest,
    query: URLSearchParams,
  ): Answer {
    const { objects } = this
    const selection = {
      namespace,
      labels: query.get('labelSelector') ?? undefined,
      fields: query.get('fieldSelector') ?? undefined,
    }
    if (verb === 'list') return { status: 200, body: listOf(resource, objects.list(resource, selection)) }
    if (verb === 'deletecollection') {
      for (const object of objects.list(resource, selection)) objects.delete(object, isOrphan(body))
      return { status: 200, body: { kind: 'Status', apiVersion: 'v1', status: 'Success' } }
    }
    if (verb === 'create' && subresource === undefined) {
      const metadata = { ...body.metadata, ...(namespace === undefined ? {} : { namespace }) }
      if (objects.find(resource, namespace, metadata.name) !== undefined)
        return failure(409, `${metadata.name} already exists`, 'AlreadyExists')
      return { status: 201, body: objects.create(resource, { ...body, metadata }) }
    }
    const object = objects.find(resource, namespace, name ?? '')
    if (object === undefined) return failure(404, `${resource.name} "${name}" not found`)
    if (subresource === 'log') return { status: 200, text: `the log of ${name}\n` }
    if (subresource === 'scale') return { status: 200, body: this.#scaled(object, body) }
    if (subresource === 'eviction') {
      objects.delete(object, false)
      return { status: 201, body: { kind: 'Status', apiVersion: 'v1', status: 'Success' } }
    }
    if (subresource !== undefined && subresource !== 'status')
      return failure(400, 'permitted; no stream goes on from here')
    if (verb === 'get') return { status: 200, body: object }
    if (verb === 'delete') {
      objects.delete(object, isOrphan(body))
      return { status: 200, body: object }
    }
    const [refused] = refusalsOf(object, merged(object, body))
    if (refused !== undefined) return failure(422, refused)
    return { status: 200, body: objects.patch(object, body) }
  }

  #scaled(object: Manifest, { spec }: Manifest): Manifest {
    if (spec !== undefined) this.objects.patch(object, { spec: { replicas: spec.replicas } })
    const { name, namespace } = object.metadata
    return {
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      metadata: { name, namespace },
      spec: { replicas: object.spec.replicas },
      status: { replicas: object.spec.replicas },
    }
  }
}

interface Place {
  readonly resource: ApiResource
  readonly namespace?: string | undefined
  readonly name?: string | undefined
  readonly subresource?: string | undefined
}

interface Answer {
  readonly status: number
  readonly body?: Manifest
  readonly text?: string
}

const json = { 'content-type': 'application/json' }

function send(response: ServerResponse, { status, body, text: words }: Answer): void {
  if (body === undefined) response.writeHead(status, { 'content-type': 'text/plain' }).end(words)
  else response.writeHead(status, json).end(JSON.stringify(body))
}

const reasons: Readonly<Record<number, string>> = { 403: 'Forbidden', 404: 'NotFound', 422: 'Invalid' }

function failure(code: number, message: string, reason = reasons[code] ?? 'BadRequest'): Answer {
  return { status: code, body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', message, reason, code } }
}

const isOrphan = ({ propagationPolicy }: Manifest) => propagationPolicy === 'Orphan'

function listOf({ kind, group, version }: ApiResource, items: readonly Manifest[]): Manifest {
  const apiVersion = group === '' ? version : `${group}/${version}`
  return { kind: `${kind}List`, apiVersion, metadata: { resourceVersion: '1' }, items }
}

function placeOf(path: string): Place | undefined {
  const [, group = '', rest = ''] = /^\/(?:api\/v1|apis\/([^/]+)\/[^/]+)\/(.+)$/.exec(path) ?? []
  const [, namespace, inside] = /^namespaces\/([^/]+)\/(.+)$/.exec(rest) ?? []
  const [plural, name, subresource] = (inside ?? rest).split('/')
  const resource = apiResources.find((each) => each.name === plural && each.group === group)
  return resource === undefined ? undefined : { resource, namespace, name, subresource }
}

function verbOf(method: string, { name }: Place, url: URL): string {
  if (method === 'GET') {
    if (url.searchParams.has('watch') && url.searchParams.get('watch') !== 'false') return 'watch'
    return name === undefined ? 'list' : 'get'
  }
  if (method === 'DELETE') return name === undefined ? 'deletecollection' : 'delete'
  return { POST: 'create', PUT: 'update', PATCH: 'patch' }[method] ?? method.toLowerCase()
}

/** What kubectl asks before anything else: which kinds there are, and how they are written. */
function discovery(path: string): Manifest | undefined {
  if (path === '/version') return { major: '1', minor: '32', gitVersion: 'v1.32.0' }
  if (path === '/api') return { kind: 'APIVersions', versions: ['v1'] }
  if (path === '/apis') return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups() }
  if (path.startsWith('/openapi/v3')) return schema(path.replace('/openapi/v3', ''))
  const [, group = '', version] = /^\/(?:api|apis\/([^/]+))\/([^/]+)$/.exec(path) ?? []
  if (version === undefined) return undefined
  const of = apiResources.filter((each) => each.group === group)
  const groupVersion = group === '' ? version : `${group}/${version}`
  const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']
  const resources = of.flatMap(({ name, kind, namespaced, short, subresources }) => [
    { name, singularName: kind.toLowerCase(), kind, namespaced, verbs, shortNames: short },
    ...subresources.map((sub) => ({ name: `${name}/${sub}`, singularName: '', kind, namespaced, verbs })),
  ])
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources }
}

function groups(): readonly Manifest[] {
  const versions = new Map(apiResources.map(({ group, version }) => [group, version]))
  versions.delete('')
  return [...versions].map(([name, version]) => {
    const preferredVersion = { groupVersion: `${name}/${version}`, version }
    return { name, versions: [preferredVersion], preferredVersion }
  })
}

/** That it looks at fields itself, which is all that kubectl wants to know of its schemas. */
function schema(path: string): Manifest {
  const placeOfGroup = ({ group, version }: ApiResource) =>
    group === '' ? `api/${version}` : `apis/${group}/${version}`
  if (path === '')
    return {
      paths: Object.fromEntries(
        apiResources.map((resource) => [
          placeOfGroup(resource),
          { serverRelativeURL: `/openapi/v3/${placeOfGroup(resource)}` },
        ]),
      ),
    }
  const parameters = ['fieldValidation', 'dryRun'].map((name) => ({ name, in: 'query' }))
  const of = apiResources.filter((resource) => `/${placeOfGroup(resource)}` === path)
  const paths = of.map(({ group, version, kind, name }) => [
    `/${name}`,
    { patch: { parameters, 'x-kubernetes-group-version-kind': { group, version, kind } } },
  ])
  return { openapi: '3.0.0', info: { title: 'Kubernetes', version: '1' }, paths: Object.fromEntries(paths) }
}
