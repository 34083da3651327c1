/** Returns whether the headers of a response say where its body ends. */
export const isFramed = (headers: Readonly<Record<string, string>>): boolean =>
  'content-length' in headers || 'transfer-encoding' in headers;
