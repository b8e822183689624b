//! Tests of light markup: what shows, and that any text is read.

use super::*;
use proptest::prelude::*;

#[track_caller]
fn check(light: Light, text: &str, title: Option<&str>, expected: &str) {
    let plain = light.plain(text);
    assert_eq!((plain.title.as_deref(), &*plain.text), (title, expected));
}

#[test]
fn rst() {
    check(
        Light::Rst,
        "\
=====
Owls
=====
:Author: Ann
:Date: 2024-05-01

.. _top:
.. contents:: Table
   :local:

Words with *stress*, **force**, ``code``, a `link <https://x.test>`_,
a :py:func:`~os.path.join` and :ref:`the rest <rest>`. See [1]_ and |name|::

    indented = code * 2

.. note:: Beware
   :class: x

   of the owl.

.. code-block:: python
   :linenos:

   print('hoo')

.. image:: owl.png
   :alt: An owl

+------+------+
| one  | two  |
+======+======+
| 3    | 4    |
+------+------+

- first
- second

.. [1] A note.
.. comment
   that goes on
",
        Some("Owls"),
        "\
Owls
Author: Ann
Date: 2024-05-01

Words with stress, force, code, a link,
a os.path.join and the rest. See  and name:

    indented = code * 2

Beware

   of the owl.

   print('hoo')

  one  two
  3  4

first
second

A note.",
    );
    let plain = Light::Rst.plain(":Author: Ann\n:Date: 2024-05-01\n");
    assert_eq!(
        (&plain.fields["author"], &plain.fields["date"]),
        (&"Ann".into(), &"2024-05-01".into())
    );
}

#[test]
fn asciidoc() {
    check(
        Light::AsciiDoc,
        "\
= The Owl
Ann Author
:toc:
:bird: barn owl
// a comment
////
and a block of it
////

[[intro]]
== A *bold* start

The {bird} and {unknown}see https://x.test[the page], link:a.html[another^] and <<intro,above>>.

.A listing
[source,python]
----
print('hoo') # <1>
----
* one
** two
. three

NOTE: `code` stays.

image::owl.png[An owl,200]
include::other.adoc[]

|===
|a |b
|===
",
        Some("The Owl"),
        "\
The Owl
Ann Author

A bold start

The barn owl and see the page, another and above.

A listing
print('hoo') #
one
two
three

NOTE: code stays.

An owl

a  b",
    );
    check(
        Light::AsciiDoc,
        "Old form\n========\nwords\n",
        Some("Old form"),
        "Old form\nwords",
    );
}

#[test]
fn org() {
    check(
        Light::Org,
        "\
#+TITLE: Notes on /owls/
#+AUTHOR: Ann
# a comment
* NEXT [#A] Barn owls :bird:night:
SCHEDULED: <2024-05-01 Wed>
:PROPERTIES:
:ID: 1
:END:
A *bold* word, =code= and [[https://x.test][a link]]; a/b stays[fn:1].
- [X] seen
- heard
| a | b |
|---+---|
| 1 | 2 |
#+BEGIN_SRC python
print('hoo')
#+END_SRC
",
        Some("Notes on owls"),
        "\
Barn owls
A bold word, code and a link; a/b stays.
seen
heard
a  b
1  2
print('hoo')",
    );
    check(Light::Org, "* First\nx", Some("First"), "First\nx");
}

proptest! {
    #[test]
    fn any_text_is_read(text in r"([a-c]{1,2}|[`*_:|<>\[\]{}=.#/~+-]|::|\.\. |\n| |é){0,60}") {
        for light in [Light::Rst, Light::AsciiDoc, Light::Org] {
            light.plain(&text);
        }
    }

    /// What has no marks stays.
    #[test]
    fn plain_words_stay(words in prop::collection::vec("[a-zé]{1,6}", 1..20)) {
        let text = words.join(" ");
        for light in [Light::Rst, Light::AsciiDoc, Light::Org] {
            let plain = light.plain(&text).text;
            prop_assert_eq!(&plain, &text);
        }
    }
}
