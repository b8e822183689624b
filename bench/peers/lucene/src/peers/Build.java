package peers;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.FieldType;
import org.apache.lucene.document.StoredField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexOptions;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.search.similarities.BM25Similarity;
import org.apache.lucene.store.FSDirectory;
import org.apache.lucene.util.Version;

/** Indexing of a corpus with Lucene. */
final class Build {
  static void index(String[] arguments) throws Exception {
    Path corpus = Path.of(arguments[1]), path = Path.of(arguments[2]);
    int threads = Protocol.number(arguments, "--threads");
    removeAll(path);
    IndexWriterConfig config = new IndexWriterConfig(new Words());
    config.setRAMBufferSizeMB((double) Protocol.number(arguments, "--ram-mb") * threads);
    config.setUseCompoundFile(false);
    config.setSimilarity(new BM25Similarity());
    AtomicLong documents = new AtomicLong();
    long started = System.nanoTime();
    try (FSDirectory directory = FSDirectory.open(path)) {
      try (IndexWriter writer = new IndexWriter(directory, config); // closing waits for merges
          Records records = new Records(corpus);
          var workers = Executors.newFixedThreadPool(threads)) {
        Callable<Void> worker = () -> addAll(records, writer, documents);
        for (var done : workers.invokeAll(Collections.nCopies(threads, worker))) done.get();
        writer.commit();
        if (List.of(arguments).contains("--force-merge")) writer.forceMerge(1);
        writer.commit();
      }
      double wallS = (System.nanoTime() - started) / 1e9;
      try (DirectoryReader reader = DirectoryReader.open(directory)) {
        String version = Version.LATEST + ", Java " + Runtime.version();
        Protocol.printIndexed(version, documents.get(), wallS, reader.leaves().size(), path);
      }
    }
  }

  private static void removeAll(Path path) throws IOException {
    if (!Files.exists(path)) return;
    try (var files = Files.walk(path)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) Files.delete(file);
    }
  }

  private static Void addAll(Records records, IndexWriter writer, AtomicLong documents) throws IOException {
    FieldType words = new FieldType();
    words.setTokenized(true);
    words.setIndexOptions(IndexOptions.DOCS_AND_FREQS_AND_POSITIONS);
    words.freeze();
    Field url = new StoredField("url", ""), body = new Field("body", "", words);
    Document document = new Document(); // reused, as Lucene advises
    document.add(url);
    document.add(body);
    for (Record record; (record = records.next()) != null; documents.incrementAndGet()) {
      url.setStringValue(record.url);
      body.setStringValue(record.title + "\n" + record.body);
      writer.addDocument(document);
    }
    return null;
  }

  private record Record(String url, String title, String body) {}

  /** The corpus, parsed from its bytes under a lock: parsing is a small part of the work of a document. */
  private static final class Records implements AutoCloseable {
    private final JsonParser parser;

    Records(Path corpus) throws IOException {
      parser = new JsonFactory().createParser(corpus.toFile());
    }

    /** The next record, or null after the last. */
    synchronized Record next() throws IOException {
      if (parser.nextToken() == null) return null;
      String url = "", title = "", body = "";
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        String name = parser.currentName();
        parser.nextToken();
        switch (name) {
          case "url" -> url = parser.getText();
          case "title" -> title = parser.getText();
          case "body" -> body = parser.getText();
          default -> parser.skipChildren();
        }
      }
      return new Record(url, title, body);
    }

    @Override
    public void close() throws IOException {
      parser.close();
    }
  }
}
