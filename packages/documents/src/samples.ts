import assert from 'node:assert/strict'
import { type SampleLanguage, sampleCall } from './samples/call.ts'
import { client } from './samples/client.ts'
import { csharp } from './samples/csharp.ts'
import { curl } from './samples/curl.ts'
import { go } from './samples/go.ts'
import { java } from './samples/java.ts'
import { node } from './samples/node.ts'
import { php } from './samples/php.ts'
import { python } from './samples/python.ts'
import { ruby } from './samples/ruby.ts'
import { type SampleLanguageId, sampleLanguageIds } from './served.ts'

export { type SampleLanguage, samplePlaceholders } from './samples/call.ts'

const languages: Readonly<Record<SampleLanguageId, SampleLanguage>> = {
  curl,
  node,
  client,
  python,
  php,
  ruby,
  go,
  java,
  csharp,
}

/** In the order in which a page offers them. */
export const sampleLanguages: readonly SampleLanguage[] = sampleLanguageIds.map((id) => languages[id])

interface SampleOptions {
  /** The address that clients call, with the /api/v1 prefix. */
  readonly baseUrl: string
}

/**
 * A whole program that sends one operation with the example of the table, signed where that is needed, and prints the
 * reply. Its key and secret are `samplePlaceholders`, unless the environment has OPERATOR_KEY and OPERATOR_SECRET; its
 * ids are those of the example.
 */
export function sampleOf(languageId: string, operationId: string, { baseUrl }: SampleOptions): string {
  const language = sampleLanguages.find(({ id }) => id === languageId)
  assert(language !== undefined, `there are no samples in ${languageId}`)
  const call = sampleCall(operationId, baseUrl)
  return call.isSigned ? language.signed(call) : language.unsigned(call)
}

/** The samples of an operation as the OpenAPI extension `x-codeSamples` has them. */
export function codeSamplesOf(operationId: string, options: SampleOptions) {
  return sampleLanguages.map(({ id, name, codeSample }) => ({
    lang: codeSample,
    label: name,
    source: sampleOf(id, operationId, options),
  }))
}
