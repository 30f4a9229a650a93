/**
 * The statement that deletes all rows of a PostgreSQL schema, except the version of the tables.
 *
 * @param {string} schema
 */
export function clearing(schema) {
  return `do $$
    declare name text;
    begin
      set local session_replication_role = replica; -- no foreign key is checked
      for name in select table_name from information_schema.tables
        where table_schema = '${schema}' and table_name not like '%adk_internal_metadata'
      loop execute format('delete from %I.%I', '${schema}', name); end loop;
    end $$`;
}
