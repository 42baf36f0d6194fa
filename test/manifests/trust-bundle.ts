import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

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

/** As the models of the packages are. */
export class Bundle {
  readonly #manifest: IBundle

  constructor(manifest: IBundle) {
    this.#manifest = manifest
  }

  validate(): void {
    Value.Assert(spec, this.#manifest.spec)
  }
}
