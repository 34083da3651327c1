import type { Attributes, AttributeValue, TraceSpan } from '../../contract/index.ts';
import type { Tag } from '../store/store.ts';
import type { LogEntryCollector } from './log-entries.ts';

/** Bounds of what one request may bring; without them, a small body makes millions of rows. */
export const tagLimits = {
  perConversationMax: 64,
  perRequestMax: 50_000,
  keyLengthMax: 256,
  /** In UTF-8. */
  valueBytesMax: 1024,
} as const;

interface Label {
  key: string;
  value: string;
}

/**
 * Gathers the tags of a request: every attribute outside `gen_ai.*`, of a span or of its resource
 * (spec 2.1), each pair of key and value once for each conversation.
 */
export class TagCollector {
  readonly tags: Tag[] = [];
  readonly #book: LogEntryCollector;
  readonly #labelsOf = new Map<Attributes, Label[]>();
  readonly #conversations = new Map<string, { pairs: Set<string>; resources: Set<Attributes> }>();

  constructor(book: LogEntryCollector) {
    this.#book = book;
  }

  /** The span's own attributes go first: they say more than those of its resource. */
  add(conversationId: string, span: TraceSpan): void {
    let known = this.#conversations.get(conversationId);
    if (!known) {
      known = { pairs: new Set(), resources: new Set() };
      this.#conversations.set(conversationId, known);
    }
    this.#keep(conversationId, known.pairs, labels(span.attributes, this.#book));
    if (known.resources.has(span.resource)) return;
    known.resources.add(span.resource);
    this.#keep(conversationId, known.pairs, this.#resourceLabels(span.resource));
  }

  #keep(conversationId: string, pairs: Set<string>, found: readonly Label[]): void {
    for (const { key, value } of found) {
      const pair = `${key.length} ${key}${value}`;
      if (pairs.has(pair)) continue;
      const { perConversationMax, perRequestMax } = tagLimits;
      if (pairs.size >= perConversationMax || this.tags.length >= perRequestMax) {
        this.#book.add('dropped_tags', { conversation_id: conversationId });
        return;
      }
      pairs.add(pair);
      this.tags.push({ conversationId, key, value });
    }
  }

  /** A resource is shared by many spans; its attributes are gone through once. */
  #resourceLabels(resource: Attributes): Label[] {
    const known = this.#labelsOf.get(resource);
    if (known) return known;
    const found = labels(resource, this.#book);
    this.#labelsOf.set(resource, found);
    return found;
  }
}

/** As many as a conversation can take, and one more, so that the cut is noticed. */
function labels(attributes: Attributes, book: LogEntryCollector): Label[] {
  const found: Label[] = [];
  for (const key of Object.keys(attributes)) {
    if (key.startsWith('gen_ai.')) continue;
    if (found.length > tagLimits.perConversationMax) break;
    const text = textOf(attributes[key] ?? null);
    const label = { key: key.slice(0, tagLimits.keyLengthMax), value: shortened(text) };
    if (label.key !== key || label.value !== text) {
      book.add('shortened_tags', { key: label.key });
    }
    found.push(label);
  }
  return found;
}

function textOf(value: AttributeValue): string {
  if (typeof value === 'string') return value;
  return value === null ? '' : JSON.stringify(value);
}

const encoder = new TextEncoder();

/** Cut between characters, never within one. */
function shortened(text: string): string {
  if (text.length * 3 <= tagLimits.valueBytesMax) return text;
  const { read } = encoder.encodeInto(text, new Uint8Array(tagLimits.valueBytesMax));
  return text.slice(0, read);
}
