import MiniSearch from 'minisearch'

/** What integrators call things that the pages call otherwise, by the address of the section that they look for. */
const alsoCalled: Readonly<Record<string, string>> = {
  '#quickstart': 'sdk library package client postman',
  '#retries': 'retry timeout backoff',
  '#createdeposit': 'pix card boleto payment',
  '#faildeposit': 'refund chargeback',
  '#requestwithdrawal': 'payout cashout pix refund',
  '#limits': 'throttling',
  '/kyc-documents#set-up': 'kyc url identity',
  '/go-live#network': 'ip allowlist whitelist firewall',
  '/sandbox#refusals-you-can-provoke': 'test card magic amounts',
}

interface SearchedPage {
  readonly title: string
  readonly address: string
  readonly html: string
}

/**
 * An index of all sections, as JSON: `options` opens `index` in the browser.
 * Each hit brings the section's title, page, text and address.
 */
export function searchIndex(pages: readonly SearchedPage[], root: string): string {
  const options = {
    fields: ['title', 'text', 'alsoCalled'],
    storeFields: ['title', 'page', 'text', 'address'],
    searchOptions: { prefix: true, fuzzy: 0.15, combineWith: 'AND', boost: { title: 4, alsoCalled: 3 } },
  } as const
  const index = new MiniSearch({ ...options, fields: [...options.fields], storeFields: [...options.storeFields] })
  const found = pages.flatMap(sections)
  index.addAll(
    found.map((section, id) => ({ id, ...section, alsoCalled: alsoCalled[section.address.slice(root.length)] ?? '' })),
  )
  return JSON.stringify({ options, index })
}

function sections({ title: page, address, html }: SearchedPage) {
  let chapter = ''
  return html.split('<section>').flatMap((section) => {
    const [whole, id, title] = /<h[1-3] id="([^"]+)">(.*?)<\/h[1-3]>/.exec(section) ?? []
    if (whole === undefined || id === undefined || title === undefined) return []
    const within = whole.startsWith('<h3') ? `${page} › ${chapter}` : page
    if (whole.startsWith('<h2')) chapter = plain(title)
    // Examples and samples would find every operation for every word.
    const prose = section.replace(whole, '').replaceAll(/<figure.*?<\/figure>|<button.*?<\/button>/gs, '')
    return { title: plain(title), page: within, text: plain(prose), address: `${address}#${id}` }
  })
}

const characters: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

function plain(html: string): string {
  return html
    .replaceAll('<wbr>', '')
    .replaceAll(/<(?!\/?(?:code|a|strong|em|span)\b)[^>]*>/g, ' ')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&(amp|lt|gt|quot|#39);/g, (entity, name: string) => characters[name] ?? entity)
    .replaceAll(/\s+/g, ' ')
    .trim()
}
