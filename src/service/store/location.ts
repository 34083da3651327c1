/** Where the data of a store is: in a SQLite file, or in a PostgreSQL database. */
export type StoreLocation =
  | {
      file: string;
      /** The file is deleted on shutdown, so commits need not survive a power failure. */
      isTemporary?: boolean;
    }
  | {
      /** URL of the database, with the password. Never log it. */
      databaseUrl: string;
    };
