import { randomUuid } from '../../../platform/random.ts';
import type { Viewer } from './viewer.ts';

/** The query parameter with the id of a page that a form led to. */
export const RESULT_PARAMETER = 'shown';

/** The most characters of all pages that are kept: they hold what was sent, which can be large. */
const CHARACTERS_MAX = 50_000_000;
const PAGES_MAX = 1_000;

/** A page that a form led to, with its status. */
export interface FormResult {
  status: number;
  page: string;
}

/**
 * Keeps the pages that forms led to, so that the browser requests them by GET: going back or reloading
 * then sends no form again.
 */
export interface FormResults {
  /** Keeps a page for its reader, and returns its id. */
  keep: (reader: Viewer, result: FormResult) => string;
  /** Returns a page that was kept for this reader, if it is still known. */
  find: (reader: Viewer, id: string) => FormResult | undefined;
}

/** Keeps the newest results in the memory of this process. */
export function createFormResults(): FormResults {
  const kept = new Map<string, FormResult & { readBy: string }>();
  let characters = 0;
  const forget = (id: string): void => {
    characters -= kept.get(id)?.page.length ?? 0;
    kept.delete(id);
  };
  return {
    keep(reader, result) {
      const id = randomUuid();
      kept.set(id, { ...result, readBy: nameReader(reader) });
      characters += result.page.length;
      for (const oldest of kept.keys()) {
        const isFull = kept.size > PAGES_MAX || characters > CHARACTERS_MAX;
        if (!isFull || oldest === id) break;
        forget(oldest);
      }
      return id;
    },
    find(reader, id) {
      const found = kept.get(id);
      return found?.readBy === nameReader(reader) ? found : undefined;
    },
  };
}

/** A session has its own token, so another session cannot read what this one sent. */
const nameReader = ({ ownerId, context }: Viewer): string => `${context.token ?? ''} ${ownerId}`;
