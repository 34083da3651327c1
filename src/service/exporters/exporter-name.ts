import type { IncomingHttpHeaders } from 'node:http';
import type { IngestLogEntry } from '../store/store.ts';

/**
 * Returns the name of the program that sent a request, from its User-Agent. The version is left out: an
 * upgraded exporter is still the same one. Empty if there is no name.
 */
export const readExporter = (headers: IncomingHttpHeaders): string =>
  /^[\x20-\x2e\x30-\x7e]{1,60}/.exec(headers['user-agent'] ?? '')?.[0].trim() ?? '';

/** Returns what an entry of the ingest log says about its exporter. */
export const aboutExporter = (exporter: string): { exporter?: string } =>
  exporter === '' ? {} : { exporter };

/** Returns the exporter that an entry of the ingest log is about; empty if it names none. */
export const exporterOf = ({ about }: Pick<IngestLogEntry, 'about'>): string =>
  String(about['exporter'] ?? '');
