import type { FastifyRequest } from 'fastify';
import { formatValue } from '../../contract/index.ts';
import { readQuery } from '../../http-kit/query.ts';
import { RequestError } from '../requests/errors.ts';
import type { OwnerStore } from '../store/store.ts';

/** Finds the owner that a request to `/__admin` or for a page is about. */
export interface RequestOwners {
  /** Returns the id of the owner named in the query, or of the default owner. @throws RequestError `not_found`. */
  find(request: FastifyRequest): Promise<string>;
  /** Like `find`, but creates an owner that does not exist. */
  findOrCreate(request: FastifyRequest): Promise<string>;
  /** Returns the id of the owner with this name, and creates it if it does not exist. */
  ensure(name: string): Promise<string>;
  /** Returns the name of the owner in the query, or of the default owner. */
  readName(request: FastifyRequest): string;
}

/** Finds owners by name. `defaultName` is used when the query names none. */
export function createRequestOwners(owners: OwnerStore, defaultName: string): RequestOwners {
  const readName = (request: FastifyRequest): string => {
    const names = readQuery(request).getAll('owner');
    if (names.length > 1)
      throw new RequestError('bad_request', 'owner occurs more than once. Send it once.');
    const [name = defaultName] = names;
    if (/^[^\r\n]{1,200}$/.test(name)) return name;
    throw new RequestError('bad_request', 'owner must be 1 to 200 characters on one line.');
  };
  return {
    readName,
    async find(request) {
      const name = readName(request);
      const id = await owners.findId(name);
      if (id !== undefined) return id;
      const hint = 'POST /__admin/keys creates it.';
      throw new RequestError('not_found', `There is no owner ${formatValue(name)}. ${hint}`);
    },
    findOrCreate: (request) => owners.ensure(readName(request)),
    ensure: (name) => owners.ensure(name),
  };
}
