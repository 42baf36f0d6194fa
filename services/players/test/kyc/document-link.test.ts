import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { skipWithout } from '@backoffice/test-kit'
import fc from 'fast-check'
import t from 'tap'
import { documentLink, faultOfTemplate } from '../../src/kyc/document-link.ts'

const document = readFileSync(new URL('../../../../docs/kyc-documents.md', import.meta.url), 'utf8')
const codeIn = (language: string) => document.split(`\`\`\`${language}\n`)[1]?.split('```')[0] ?? ''
const vectors = [...document.matchAll(/^\| `(https:.*?)` \| `(.*?)` \| `(.*?)` \|$/gm)].map(
  ([, template = '', reference = '', target = '']) => ({ template, reference, target }),
)

const key = 'docsec_an-example-of-a-key'
const madeAt = new Date('2026-03-02T12:49:00.000Z')
const madeSeconds = madeAt.getTime() / 1_000
const targetOf = (link: string) => link.slice(new URL(link).origin.length)

type MayOpen = (key: string, target: string, nowSeconds: number) => boolean
const { mayOpen } = (await import(`data:text/javascript,${encodeURIComponent(codeIn('js'))}`)) as { mayOpen: MayOpen }

t.test('the links are those of the test vectors that operators have', async (t) => {
  t.equal(vectors.length, 4)
  for (const { template, reference, target } of vectors) {
    t.equal(faultOfTemplate(template), null)
    t.equal(targetOf(documentLink({ template, key }, reference, madeAt) ?? ''), target)
  }
})

/** What an operator's server must refuse, each with a time at which the link itself still holds. */
function forgeriesOf(target: string): readonly (readonly [key: string, target: string, nowSeconds: number])[] {
  const now = madeSeconds
  const [signed = '', signature = ''] = target.split('&signature=')
  const later = signed.replace(/expires=\d+/, 'expires=9999999999')
  return [
    ['docsec_another', target, now],
    [key, `${later}&signature=${signature}`, now],
    [key, `${signed.replace('expires', 'x=1&expires')}&signature=${signature}`, now],
    [key, signed, now],
    [key, `${signed}&signature=`, now],
    [key, `${signed}&signature=${signature.toUpperCase()}`, now],
    [key, `${target}0`, now],
    [key, target, now + 15 * 60],
  ]
}

t.test("the document's Node code opens each link for 15 minutes, and nothing that was changed", async (t) => {
  for (const { target } of vectors) {
    t.equal(mayOpen(key, target, madeSeconds), true)
    t.equal(mayOpen(key, target, madeSeconds + 15 * 60 - 1), true)
    for (const [other, forged, now] of forgeriesOf(target)) t.equal(mayOpen(other, forged, now), false, forged)
  }
})

t.test("the document's Python code does the same", { skip: skipWithout('python3', 'python3') }, async (t) => {
  const cases = vectors.flatMap(({ target }) => [[key, target, madeSeconds] as const, ...forgeriesOf(target)])
  const program = `import json, sys\n${codeIn('python')}\nprint(json.dumps([may_open(*one) for one in json.load(sys.stdin)]))`
  const answers = JSON.parse(
    execFileSync('python3', ['-c', program], { input: JSON.stringify(cases), encoding: 'utf8' }),
  )
  t.same(
    answers,
    cases.map(([used, target, now]) => mayOpen(used, target, now)),
  )
  t.equal(answers.filter(Boolean).length, vectors.length)
})

t.test('whatever a reference holds, it stays in its place and comes back whole, or there is no link', async (t) => {
  const template = 'https://kyc.example/documents/{reference}/file?size=full'
  const hostile = [
    '..',
    '.',
    '%2e%2e',
    '../../admin',
    'a?b=c&d#e',
    '\\..\\',
    '\'"<>`|^{}',
    ' \t\r\n\u0000',
    '%',
    '\ud800',
    '{reference}',
    '$&',
  ]
  const check = (reference: string) => {
    const link = documentLink({ template, key }, reference, madeAt)
    if (link === null) return /^(\.|%2e){1,2}$/i.test(encodeURIComponent(reference.toWellFormed()))
    const { origin, pathname, searchParams, href } = new URL(link)
    const [, folder, part = '', file, ...rest] = pathname.split('/')
    t.equal(href, link, 'a browser sends it as it is signed')
    t.same([origin, folder, file, rest], ['https://kyc.example', 'documents', 'file', []])
    t.equal(decodeURIComponent(part), reference.toWellFormed())
    t.same([...searchParams.keys()], ['size', 'expires', 'signature'])
    return mayOpen(key, targetOf(link), madeSeconds)
  }
  for (const reference of hostile) t.ok(check(reference), JSON.stringify(reference))
  fc.assert(fc.property(fc.string({ unit: 'binary', minLength: 1 }), check), { numRuns: 200 })
})

t.test('an address that is no good is refused with a sentence', async (t) => {
  for (const [template, fault] of [
    ['https://kyc.example/documents', /must have \{reference\} once/],
    ['https://kyc.example/{reference}/{reference}', /must have \{reference\} once/],
    ['{reference}', /must be a URL/],
    ['http://kyc.example/{reference}', /must use https/],
    ['javascript:alert("{reference}")', /must use https/],
    ['https://user:word@kyc.example/{reference}', /user name or a password/],
    ['https://kyc.example/#{reference}', /fragment/],
    ['https://kyc.example/{reference}#', /fragment/],
    ['https://{reference}.kyc.example/', /in the path or the query/],
    ['https://kyc.example{reference}/', /in the path or the query|as browsers send it/],
    ['https://localhost/{reference}', /public host/],
    ['https://a.localhost./{reference}', /public host/],
    ['https://10.0.0.1/{reference}', /public host/],
    ['https://0x7f.1/{reference}', /public host/],
    ['https://[::1]/{reference}', /public host/],
    ['https://KYC.example/{reference}', /as browsers send it: https:\/\/kyc.example\/x/],
    ['https://kyc.example:443/{reference}', /as browsers send it/],
    ['https://kyc.example/a/../{reference}', /as browsers send it/],
    ['https://kyc.example/ä/{reference}', /as browsers send it/],
    ['https://kyc.example/{reference}?expires=1', /expires and signature/],
    ['https://kyc.example/?signature={reference}', /expires and signature/],
  ] as const)
    t.match(faultOfTemplate(template), fault, template)
  for (const template of [
    'https://kyc.example/{reference}',
    'https://kyc.example:8443/?id={reference}',
    'https://a.b/x-{reference}.pdf?v=1',
  ])
    t.equal(faultOfTemplate(template), null, template)
})
