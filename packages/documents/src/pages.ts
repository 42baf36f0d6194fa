/** A page of the documentation that stands beside the main one, at /docs/<path>. */
export interface Page {
  readonly path: string
  /** In the contents. */
  readonly title: string
  /** From the root of the repository. The images of the gateway hold exactly these files. */
  readonly file: string
}

/** The guide opens the main page, and the reference follows it there. */
export const guideFile = 'docs/guide.md'

/** Every document that is a page, in the order of the contents. Links between them lead from page to page. */
export const pages: readonly Page[] = [
  { path: 'sandbox', title: 'The sandbox', file: 'docs/sandbox.md' },
  { path: 'signing', title: 'Compare signatures', file: 'docs/signing.md' },
  { path: 'webhooks', title: 'Receiving webhooks', file: 'docs/webhooks.md' },
  { path: 'kyc-documents', title: 'KYC documents', file: 'docs/kyc-documents.md' },
  { path: 'go-live', title: 'Go live', file: 'docs/go-live.md' },
  { path: 'changelog', title: 'Changelog', file: 'CHANGELOG.md' },
]
