import type { IObjectMeta } from '@kubernetes-models/apimachinery/apis/meta/v1/ObjectMeta'
import { Cluster, type ICluster } from '@kubernetes-models/cloudnative-pg/postgresql.cnpg.io/v1/Cluster'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { IResourceRequirements } from 'kubernetes-models/v1/ResourceRequirements'

// Kinds that nobody publishes a package of: the part that deploy/ uses.

type Backup = NonNullable<NonNullable<ICluster['spec']>['backup']>

/**
 * The resource of the Barman Cloud plugin, for which no package has a schema. Its configuration is the one that
 * CloudNativePG itself had, whose schema is published. The rest is as the plugin's documentation has it.
 */
export interface IObjectStore {
  readonly apiVersion: 'barmancloud.cnpg.io/v1'
  readonly kind: 'ObjectStore'
  readonly metadata: IObjectMeta
  readonly spec: {
    /** The plugin refuses a serverName here. */
    readonly configuration: Omit<NonNullable<Backup['barmanObjectStore']>, 'serverName'>
    readonly retentionPolicy?: string
    readonly instanceSidecarConfiguration?: {
      readonly logLevel?: 'error' | 'warning' | 'info' | 'debug' | 'trace'
      readonly retentionPolicyIntervalSeconds?: number
      readonly resources?: IResourceRequirements
    }
  }
}

export class ObjectStore {
  readonly #cluster: Cluster

  constructor({ metadata, spec }: IObjectStore) {
    const { configuration, retentionPolicy = '1d' } = spec
    this.#cluster = new Cluster({
      metadata,
      spec: { instances: 1, backup: { retentionPolicy, barmanObjectStore: configuration } },
    })
  }

  validate(): void {
    this.#cluster.validate()
  }
}

const keyOf = Type.Object({ name: Type.String(), key: Type.String() })

/** The part of trust-manager's Bundle that deploy/ uses. */
const spec = Type.Object({
  sources: Type.Array(Type.Object({ secret: keyOf }), { minItems: 1 }),
  target: Type.Object({
    configMap: Type.Object({ key: Type.String() }),
    namespaceSelector: Type.Object({ matchLabels: Type.Record(Type.String(), Type.String()) }),
  }),
})

export interface IBundle {
  apiVersion: 'trust.cert-manager.io/v1alpha1'
  kind: 'Bundle'
  metadata: { name: string; labels?: Record<string, string>; annotations?: Record<string, string> }
  spec: Static<typeof spec>
}

export class Bundle {
  readonly #manifest: IBundle

  constructor(manifest: IBundle) {
    this.#manifest = manifest
  }

  validate(): void {
    Value.Assert(spec, this.#manifest.spec)
  }
}
