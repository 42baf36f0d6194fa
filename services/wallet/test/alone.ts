/** Where corrections are made for another purpose than to show that they take two people. */
export const aloneUpToAnything = { CORRECT_ALONE_UP_TO: '9999999999999.99' }
