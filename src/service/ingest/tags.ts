import type { Attributes, AttributeValue, TraceSpan } from '../../contract/index.ts';
import { cutToBytes } from '../../platform/cut-to-bytes.ts';
import { TAG_NAME_CHARS_MAX } from '../store/conversation-limits.ts';
import type { Tag } from '../store/store.ts';
import type { RequestLogEntries } from './log-entries.ts';

/** Limits for one request. Without them, a small body could create millions of rows. */
const tagLimits = {
  perConversationMax: 64,
  perRequestMax: 50_000,
  /** In UTF-8. */
  valueBytesMax: 1024,
} as const;

interface Label {
  key: string;
  value: string;
}

/**
 * Collects the tags of a request: all attributes of spans and resources outside `gen_ai.*` (spec 2.1),
 * each pair of key and value once per conversation.
 */
export class TagCollector {
  readonly tags: Tag[] = [];
  readonly #log: RequestLogEntries;
  readonly #labelsOf = new Map<Attributes, Label[]>();
  readonly #conversations = new Map<string, { pairs: Set<string>; resources: Set<Attributes> }>();

  constructor(log: RequestLogEntries) {
    this.#log = log;
  }

  /** Adds the span's own attributes first, because they are more specific than its resource. */
  add(conversationId: string, span: TraceSpan): void {
    let known = this.#conversations.get(conversationId);
    if (!known) {
      known = { pairs: new Set(), resources: new Set() };
      this.#conversations.set(conversationId, known);
    }
    this.#addLabels(conversationId, known.pairs, toLabels(span.attributes, this.#log));
    if (known.resources.has(span.resource)) return;
    known.resources.add(span.resource);
    this.#addLabels(conversationId, known.pairs, this.#getResourceLabels(span.resource));
  }

  #addLabels(conversationId: string, pairs: Set<string>, labels: readonly Label[]): void {
    for (const { key, value } of labels) {
      const pair = `${key.length} ${key}${value}`;
      if (pairs.has(pair)) continue;
      const { perConversationMax, perRequestMax } = tagLimits;
      if (pairs.size >= perConversationMax || this.tags.length >= perRequestMax) {
        this.#log.add('dropped_tags', { conversation_id: conversationId });
        return;
      }
      pairs.add(pair);
      this.tags.push({ conversationId, key, value });
    }
  }

  /** Many spans share a resource, so its labels are cached. */
  #getResourceLabels(resource: Attributes): Label[] {
    const known = this.#labelsOf.get(resource);
    if (known) return known;
    const labels = toLabels(resource, this.#log);
    this.#labelsOf.set(resource, labels);
    return labels;
  }
}

/** Returns up to one label more than a conversation can have, so that the limit is noticed. */
function toLabels(attributes: Attributes, log: RequestLogEntries): Label[] {
  const labels: Label[] = [];
  for (const key of Object.keys(attributes)) {
    if (key.startsWith('gen_ai.')) continue;
    if (labels.length > tagLimits.perConversationMax) break;
    const text = toText(attributes[key] ?? null);
    const label = {
      // The cut may separate the halves of a surrogate pair.
      key: key.slice(0, TAG_NAME_CHARS_MAX).toWellFormed(),
      value: cutToBytes(text, tagLimits.valueBytesMax),
    };
    if (label.key !== key || label.value !== text) {
      log.add('shortened_tags', { key: label.key });
    }
    labels.push(label);
  }
  return labels;
}

function toText(value: AttributeValue): string {
  if (typeof value === 'string') return value;
  return value === null ? '' : JSON.stringify(value);
}
