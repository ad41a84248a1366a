-- title: Names of programs
-- question: What is a program called where people read of it?
-- why: Ids are long and made by machines; sentences about programs are read by people.
-- grain: program
-- column program_id: VARCHAR; the program
-- column name: VARCHAR; its title or name, else its id; at most 40 characters
with stated as (
  select
    id as program_id,
    coalesce(
      nullif(trim(coalesce(json_extract_string(config_json, '$.title'), json_extract_string(config_json, '$.name'))), ''),
      id
    ) as name
  from programs
)
select program_id, case when length(name) > 40 then left(name, 39) || '…' else name end as name from stated
