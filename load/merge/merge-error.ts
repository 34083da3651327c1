/** Reports can't be merged. The message says why, and what to do. */
export class MergeError extends Error {
  override name = 'MergeError';
}

/** A report with the name that messages give it: the path of its file. */
export interface NamedReport<Report> {
  name: string;
  report: Report;
}
