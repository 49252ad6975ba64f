"""From text to checked elements, each with its file and line.

- `source`: the front door: `load` reads a document with its includes into a tree of `Node`s; `Loader` opens those
  files that may be opened.
- `xml_text`: an XML reader as forgiving as MuJoCo's.
- `schema`: every element of MJCF with its attributes, as data; `kinds`: one class per kind of attribute.
- `validate`: a tree against the schema, values in place of texts; `lint`: all its problems at once.
- `dialects`: older spellings; `urdf`: a URDF robot as MJCF; `places`: where the files are that elements name.

Begin with `source.load`, then `validate.validate`. A new attribute begins as one line of `schema`. Tests:
`tests/mjcf/test_schema.py`, `test_attributes.py`, `test_errors.py`, `test_includes.py`, `test_forgiving_xml.py`,
`test_numbers.py`, `test_dialects.py`, `test_urdf.py`, `test_file_places.py`.
"""
